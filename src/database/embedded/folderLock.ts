import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inFolder, makeFolder } from "./folder.js";
import { type FileLock, lockFile, readHolder } from "./fileLock.js";
import { type Holder, isAlive, isElsewhere } from "./holder.js";

const fileName = "vitrine.lock";

/**
 * PGlite does not lock its folder, and two processes on one folder lose acknowledged rows without an error.
 * So whoever opens the folder must hold this lock.
 *
 * @param onWait called before a holder is waited for of which nothing is seen but that it was there some seconds ago
 * @returns the lock, or the living process that holds it
 * @throws {FolderUnusableError} where it cannot be made or written to
 */
export async function lockFolder(folder: string, onWait?: (holder: Holder) => void): Promise<FileLock | Holder> {
  return inFolder(folder, async () => {
    await makeFolder(folder);
    return lockFile(join(folder, fileName), { onWait });
  });
}

/** Who on this machine holds the folder, waiting until that process lets others use the database or gives the folder up. */
export async function findHolder(folder: string, waitMs = 60_000): Promise<Holder | undefined> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const holder = await readHolder(join(folder, fileName));
    if (holder === undefined || (await isElsewhere(holder)) || !(await isAlive(holder))) return undefined;
    if (holder.socketFolder !== undefined || Date.now() > deadline) return holder;
    await sleep(100);
  }
}
