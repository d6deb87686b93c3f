import { mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { packageFile } from "../../lib/packageFiles.js";

/** What the engine makes of an empty folder, which takes it seconds. The build has it made once (scripts/build.js). */
const newDatabase = fileURLToPath(packageFile("dist/database/embedded/new.tar.gz"));

/**
 * Puts a database without tables into an empty folder. If the process is killed, the folder stays empty, and the next start
 * removes what this one has left beside it, also where a restore has filled the folder meanwhile.
 */
export async function fillFolder(folder: string): Promise<void> {
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  if ((await readdir(folder)).length > 0) return;
  await mkdir(draft, { mode: 0o700 });
  const { extract } = await import("tar"); // would make other starts longer
  extract({ cwd: draft, file: newDatabase, strict: true, preserveOwner: false, sync: true }); // faster, and nothing waits for it
  await rmdir(folder); // Windows renames no folder to one that exists, even if that is empty
  await rename(draft, folder);
}
