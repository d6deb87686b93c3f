import { existsSync } from "node:fs";
import { readdir, rename, rm, rmdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { packageFile } from "../../lib/packageFiles.js";

/** What the engine makes of an empty folder, which takes it seconds. The build has it made once (scripts/build.js). */
const newDatabase = fileURLToPath(packageFile("dist/database/embedded/new.tar.gz"));

/**
 * Puts a database without tables into an empty folder. If the process is killed, the folder stays empty, and the next start
 * removes what this one has left next to it, also where a restore has filled the folder meanwhile.
 *
 * @throws {Error} where the archive is missing, or the error of node:fs
 */
export async function fillFolder(folder: string, archive = newDatabase): Promise<void> {
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  if ((await readdir(folder)).length > 0) return;
  if (!existsSync(archive)) throw new Error(`${archive} is missing. It is part of the build: run npm run build.`);
  const { extractAtOnce } = await import("./archive.js"); // its library would make other starts longer
  extractAtOnce(archive, draft);
  await rmdir(folder); // Windows renames no folder to one that exists, even if that is empty
  await rename(draft, folder);
}
