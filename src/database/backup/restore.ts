import { rmSync } from "node:fs";
import { rename } from "node:fs/promises";
import pg from "pg";
import { ArchiveError, checkArchive, extractArchive } from "../embedded/archive.js";
import { DamagedDatabaseError } from "../embedded/engineFailure.js";
import { removeSocketFolder, startEmbedded } from "../embedded/embeddedEngine.js";
import { finishRestore, foldersOf, isThere, lockFolder } from "../embedded/folder.js";
import { appliedMigrations, migrationNames } from "../migrations/applied.js";
import { embeddedConnection, FolderInUseError } from "../open.js";
import type { OnProgress } from "./backUp.js";

export type Query = <Row>(sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

interface RestoreOptions<Facts, Review> {
  readonly onProgress: OnProgress;
  /** Reads what the review needs to know about the replaced database. */
  readonly read: (query: Query) => Promise<Facts>;
  /**
   * Examines the restored database before it replaces the other one, and may change it. An error ends the restore.
   *
   * @param replaced undefined if there is no other database, an error if it cannot be read
   */
  readonly review: (query: Query, replaced: Facts | Error | undefined) => Promise<Review>;
}

/**
 * Replaces the embedded database by a backup, which it first extracts next to it and opens once. If the process is killed, one of
 * the two is in place. The replaced database is kept until the next restore.
 *
 * @returns where the replaced database is, if there was one, and the result of the review
 * @throws {FolderInUseError} while a process uses the database
 * @throws {ArchiveError} for a file that is not a backup of this or an older version
 */
export async function restore<Facts, Review>(
  dataDir: string,
  file: string,
  { onProgress, read, review }: RestoreOptions<Facts, Review>,
): Promise<{ previous: string | null; review: Review }> {
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
    const hadDatabase = await isThere(database);
    const replaced = hadDatabase ? await inDatabase(database, read).catch((error: Error) => error) : undefined;
    await requireDatabase(restoring, file);
    let failure: unknown;
    const reviewed = await inDatabase(restoring, async (query) => {
      await requireKnown(query, file);
      return review(query, replaced).catch((error: unknown) => Promise.reject((failure = error)));
    }).catch((error: unknown) => {
      throw error === failure ? error : unopened(error, file);
    });
    await rename(restoring, restored);
    await finishRestore(dataDir);
    return { previous: hadDatabase ? previous : null, review: reviewed };
  } finally {
    rmSync(restoring, { recursive: true, force: true });
    await lock.release();
  }
}

async function requireDatabase(folder: string, file: string): Promise<void> {
  if (!(await isThere(`${folder}/PG_VERSION`))) throw new ArchiveError(`${file} has no database.`);
}

/** @throws {ArchiveError} if it has migrations that this version does not know */
async function requireKnown(query: Query, file: string): Promise<void> {
  const applied = await appliedMigrations(query);
  const known = new Set(await migrationNames());
  const newer = [...applied].filter((name) => !known.has(name));
  if (newer.length === 0) return;
  throw new ArchiveError(`${file} was made by a newer version: this one does not know ${newer.join(", ")}.`);
}

function unopened(error: unknown, file: string): ArchiveError {
  if (error instanceof ArchiveError) return error;
  const reason = error instanceof DamagedDatabaseError ? `(${error.words})` : (error as Error).message;
  return new ArchiveError(`The database of ${file} cannot be opened by this version. ${reason}`, { cause: error });
}

/** Runs work on a database that no other process uses. */
async function inDatabase<Result>(folder: string, work: (query: Query) => Promise<Result>): Promise<Result> {
  const server = await startEmbedded({ folder, isShortLived: true });
  const client = new pg.Client(embeddedConnection(server.socketFolder));
  try {
    await client.connect();
    return await work(async <Row>(sql: string, values: readonly unknown[] = []) => {
      const { rows } = await client.query(sql, [...values]);
      return rows as Row[];
    });
  } finally {
    await client.end();
    await server.close();
  }
}
