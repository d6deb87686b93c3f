import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Copies what is in a folder. For the thousand files of a database, `cp` of node:fs takes 0.3 seconds of CPU time more. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await run("cp", ["-R", `${from}/.`, to]);
}

/** Removes folders, also those that are not there. `rm` of node:fs takes 0.06 seconds of CPU time more for a database. */
export async function removeFolders(...folders: readonly string[]): Promise<void> {
  await run("rm", ["-rf", ...folders]);
}
