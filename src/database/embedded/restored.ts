import { rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

export function foldersOf(dataDir: string) {
  return {
    database: join(dataDir, "postgres"),
    /** Being extracted: incomplete. */
    restoring: join(dataDir, "restoring"),
    /** Complete, to replace the database. */
    restored: join(dataDir, "restored"),
    /** Replaced by the last restore. */
    previous: join(dataDir, "before-restore"),
  };
}

/**
 * Completes an interrupted restore: a complete folder replaces the database, another one is removed. Needs the lock of
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
