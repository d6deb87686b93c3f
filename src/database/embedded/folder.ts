import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type FileLock, lockFile, readHolder } from "./fileLock.js";
import { type Holder, isAlive, isCode, isElsewhere } from "./lockOwner.js";

const lockName = "vitrine.lock";

class FolderUnusableError extends Error {
  override readonly name = "FolderUnusableError";
}

const reasons: Readonly<Record<string, string>> = {
  ENOTDIR: "it, or what it is in, is a file",
  EEXIST: "it is a file",
  ENOENT: "nothing can be made there",
  EACCES: "this user may not write there; set DATA_DIR to a folder of its own",
  EPERM: "nothing can be written there",
  EROFS: "the file system is read-only; set DATA_DIR to a folder on another one",
  ENOSPC: "the disk is full",
};

/** mkdir's `recursive` never returns in /proc (Node.js 20 to 24). */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (isCode(error, "EEXIST") && (await stat(path)).isDirectory()) return;
    if (!isCode(error, "ENOENT") || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    // Another process may have made this folder first.
    await mkdir(path, { mode: 0o700 }).catch((again: unknown) => {
      if (!isCode(again, "EEXIST")) throw again;
    });
  }
}

/** @throws {FolderUnusableError} for errors of the file system */
export async function inFolder<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw Object.hasOwn(reasons, code) ? unusable(folder, code, error) : error;
  }
}

/** @param code of an error of the file system: a key of `reasons` */
export function unusable(folder: string, code: string, cause: unknown): FolderUnusableError {
  return new FolderUnusableError(`The data folder ${folder} cannot be used: ${reasons[code]} (${code}).`, { cause });
}

/**
 * Locks the folder, because PGlite does not: two processes on one folder lose acknowledged rows without an error.
 *
 * @returns the lock, or the living process that holds it
 * @throws {FolderUnusableError} if it cannot be created or written
 */
export async function lockFolder(folder: string, onWait?: (holder: Holder) => void): Promise<FileLock | Holder> {
  return inFolder(folder, async () => {
    await makeFolder(folder);
    return lockFile(join(folder, lockName), { onWait });
  });
}

/** Waits until the holder on this machine shares the database or releases it. */
export async function findHolder(folder: string, waitMs = 60_000): Promise<Holder | undefined> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const holder = await readHolder(join(folder, lockName));
    if (holder === undefined || (await isElsewhere(holder)) || !(await isAlive(holder))) return undefined;
    if (holder.socketFolder !== undefined || Date.now() > deadline) return holder;
    await sleep(100);
  }
}

export function foldersOf(dataDir: string) {
  return {
    database: join(dataDir, "postgres"),
    /** Incomplete, because it is being extracted. */
    restoring: join(dataDir, "restoring"),
    /** Complete, and about to replace the database. */
    restored: join(dataDir, "restored"),
    /** Replaced by the last restore. */
    previous: join(dataDir, "before-restore"),
  };
}

/**
 * Completes an interrupted restore: a complete folder replaces the database, an incomplete one is removed. Requires the lock of
 * DATA_DIR.
 */
export async function finishRestore(dataDir: string): Promise<void> {
  const { database, restoring, restored, previous } = foldersOf(dataDir);
  await rm(restoring, { recursive: true, force: true });
  if (!(await isThere(restored))) return;
  if (await isThere(database)) {
    await rm(previous, { recursive: true, force: true });
    await rename(database, previous);
  }
  await rename(restored, database);
}

export async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
