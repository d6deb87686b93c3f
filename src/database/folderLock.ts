import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type FileLock, type Holder, isAlive, lockFile, readHolder } from "./fileLock.js";

const fileName = "vitrine.lock";

/**
 * PGlite does not lock its folder, and two processes on one folder lose acknowledged rows without an error.
 * So whoever opens the folder must hold this lock.
 *
 * @returns the lock, or the living process that holds it
 */
export async function lockFolder(folder: string): Promise<FileLock | Holder> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return lockFile(join(folder, fileName));
}

/** Who holds the folder, waiting until that process lets others use the database or gives the folder up. */
export async function findHolder(folder: string, waitMs = 60_000): Promise<Holder | undefined> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const holder = await readHolder(join(folder, fileName));
    if (holder === undefined || !(await isAlive(holder))) return undefined;
    if (holder.socketFolder !== undefined || Date.now() > deadline) return holder;
    await sleep(100);
  }
}
