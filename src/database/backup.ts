import { constants, rmSync } from "node:fs";
import { cp, mkdir, readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { AppError } from "../errors.js";
import { ArchiveError, checkArchive, extractArchive, writeArchive } from "./embedded/archive.js";
import { removeSocketFolder, startEmbedded } from "./embedded/engine.js";
import { lockFolder } from "./embedded/folder.js";
import { finishRestore, foldersOf, isThere } from "./embedded/restored.js";
import { appliedMigrations, migrationNames } from "./migrations/applied.js";
import { embeddedConnection, FolderInUseError, type OpenDatabase } from "./open.js";

/** @param bytes done of those in all */
type OnProgress = (progress: { readonly bytes: number; readonly bytesTotal: number; readonly files: number }) => void;

const turnTimeoutMs = 600_000;

/** @throws {AppError} NOT_FOUND where DATA_DIR has no embedded database */
export async function requireEmbedded(dataDir: string): Promise<void> {
  if (await isThere(foldersOf(dataDir).database)) return;
  throw new AppError("NOT_FOUND", `There is no embedded database in ${dataDir}.`);
}

/**
 * Writes a consistent backup of the embedded database, also while a server uses it: a transaction in the only session
 * keeps files unchanged. Others wait while files are copied, but not while they are packed.
 *
 * @param file is overwritten
 * @returns the size of the file
 * @throws {AppError} UNAVAILABLE where the process that holds the database stops meanwhile
 */
export async function backUp(
  { connection }: Pick<OpenDatabase, "connection">,
  dataDir: string,
  file: string,
  onProgress: OnProgress,
): Promise<{ bytes: number }> {
  const copy = `${file}.copy`;
  const remove = () => rmSync(copy, { recursive: true, force: true });
  const client = new pg.Client({ ...connection, query_timeout: turnTimeoutMs });
  client.on("error", () => undefined); // the next query rejects
  process.once("exit", remove);
  try {
    await mkdir(copy, { mode: 0o700 });
    await client.connect().catch(throwStopped);
    await client.query("BEGIN").catch(throwStopped);
    await client.query("CHECKPOINT").catch(throwStopped);
    await cp(foldersOf(dataDir).database, copy, { recursive: true, mode: constants.COPYFILE_FICLONE });
    await client.query("ROLLBACK").catch(throwStopped);
    const bytesTotal = await sizeOf(copy);
    await writeArchive(copy, file, (bytes, files) => onProgress({ bytes, bytesTotal, files }));
    return { bytes: (await stat(file)).size };
  } finally {
    await client.end();
    remove();
    process.off("exit", remove);
  }
}

function throwStopped(cause: Error): never {
  const message = `The database did not stay available during the backup: run it again. (${cause.message})`;
  throw new AppError("UNAVAILABLE", message, { cause });
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(entries.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

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
