import { rmSync } from "node:fs";
import { rename } from "node:fs/promises";
import pg from "pg";
import { ArchiveError, checkArchive, extractArchive } from "../embedded/archive.js";
import { removeSocketFolder, startEmbedded } from "../embedded/engine.js";
import { lockFolder } from "../embedded/folder.js";
import { finishRestore, foldersOf, isThere } from "../embedded/restored.js";
import { appliedMigrations, migrationNames } from "../migrations/applied.js";
import { embeddedConnection, FolderInUseError } from "../open.js";
import type { OnProgress } from "./backUp.js";

/**
 * Replaces the embedded database by a backup, extracted beside it and opened once. If the process is killed, one of
 * both is there. The replaced database is kept until the next restore.
 *
 * @returns where the replaced database is, if there was one
 * @throws {FolderInUseError} while a process uses the database
 * @throws {ArchiveError} for a file that is no backup of this or an older version
 */
export async function restore(
  dataDir: string,
  file: string,
  onProgress: OnProgress,
): Promise<{ previous: string | null }> {
  const bytesTotal = await checkArchive(file);
  const lock = await lockFolder(dataDir);
  if (!("release" in lock)) {
    throw new FolderInUseError(`${dataDir} is in use by process ${lock.pid}. Stop it before restoring.`);
  }
  const { database, restoring, restored, previous } = foldersOf(dataDir);
  try {
    if (lock.abandonedBy?.socketFolder !== undefined) removeSocketFolder(lock.abandonedBy.socketFolder);
    await finishRestore(dataDir);
    await extractArchive(file, restoring, (bytes, files) => onProgress({ bytes, bytesTotal, files }));
    await requireOpens(restoring, file);
    const hadDatabase = await isThere(database);
    await rename(restoring, restored);
    await finishRestore(dataDir);
    return { previous: hadDatabase ? previous : null };
  } finally {
    rmSync(restoring, { recursive: true, force: true });
    await lock.release();
  }
}

async function requireOpens(folder: string, file: string): Promise<void> {
  if (!(await isThere(`${folder}/PG_VERSION`))) throw new ArchiveError(`${file} has no database.`);
  const newer = await migrationsOf(folder).catch((error: Error) => {
    throw new ArchiveError(`The database of ${file} cannot be opened by this version. ${error.message}`, {
      cause: error,
    });
  });
  if (newer.length === 0) return;
  throw new ArchiveError(`${file} was made by a newer version: this one does not know ${newer.join(", ")}.`);
}

/** Applied migrations that this version does not know. */
async function migrationsOf(folder: string): Promise<string[]> {
  const server = await startEmbedded({ folder, isShortLived: true });
  const client = new pg.Client(embeddedConnection(server.socketFolder));
  try {
    await client.connect();
    const applied = await appliedMigrations(async (sql) => (await client.query(sql)).rows);
    const known = new Set(await migrationNames());
    return [...applied].filter((name) => !known.has(name));
  } finally {
    await client.end();
    await server.close();
  }
}
