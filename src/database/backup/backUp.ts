import { constants, rmSync } from "node:fs";
import { access, copyFile, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import { AppError } from "../../errors.js";
import { sizeOfFolder } from "../../lib/disk.js";
import { writeArchive } from "../embedded/archive.js";
import { foldersOf, isThere } from "../embedded/folder.js";
import type { OpenDatabase } from "../open.js";
import { isCode } from "../embedded/lockOwner.js";

/** @param bytes done of those in all */
export type OnProgress = (progress: {
  readonly bytes: number;
  readonly bytesTotal: number;
  readonly files: number;
}) => void;

/** Others may keep the engine busy for so long. */
const turnTimeoutMs = 600_000;

/** @throws {AppError} NOT_FOUND where DATA_DIR has no embedded database */
export async function requireEmbedded(dataDir: string): Promise<void> {
  if (await isThere(foldersOf(dataDir).database)) return;
  throw new AppError("NOT_FOUND", `There is no embedded database in ${dataDir}.`);
}

/**
 * Writes a consistent backup of the embedded database, also while a server uses it, which it does not hold up.
 *
 * @param file is overwritten
 * @returns the size of the file
 * @throws {AppError} UNAVAILABLE where the process that holds the database stops meanwhile, or as copyLive does
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
    await copyLive(client, foldersOf(dataDir).database, copy);
    const bytesTotal = await sizeOfFolder(copy);
    await writeArchive(copy, file, (bytes, files) => onProgress({ bytes, bytesTotal, files }));
    return { bytes: (await stat(file)).size };
  } finally {
    await client.end();
    remove();
    process.off("exit", remove);
  }
}

const logFolder = "pg_wal";

/** What the server keeps while it runs, which means nothing to the next one (PostgreSQL manual, 25.3.4.3). */
const ofSession = /^(?:postmaster\.(?:pid|opts)|pgsql_tmp.*)$/u;

/** How often the log that was written meanwhile is copied: a checkpoint removes what it no longer needs. */
const logEveryMs = 250;

/** Segments of 16 MB, the default, in 4 GiB, for which the second part of their names stands. */
const segmentsOfPart = 256;

/**
 * Copies the files of a database while it is used, by PostgreSQL's low-level base backup (manual, 25.3.4): no request waits, and
 * a copy that is suspended holds nothing. Files are copied as they are found. The log that was written meanwhile is copied
 * too; who opens the copy replays it, which makes it the database at the end of copying.
 *
 * Each step is one message: the embedded engine has one session, which others use in between.
 *
 * @throws {AppError} UNAVAILABLE where the log is incomplete, or where another backup has begun meanwhile
 */
export async function copyLive(client: pg.Client, database: string, copy: string): Promise<void> {
  const label = randomUUID();
  const log = new LogCopy(join(database, logFolder), join(copy, logFolder), await begin(client, label));
  await mkdir(join(copy, logFolder), { mode: 0o700 });
  let copiedLogAt = performance.now();
  for await (const _ of copyFiles(database, copy)) {
    if (performance.now() - copiedLogAt < logEveryMs) continue;
    await log.copyBefore(await currentSegment(client));
    copiedLogAt = performance.now();
  }
  const { labelFile, control, last } = await end(client, label);
  await log.copyUpTo(last);
  await writeFile(join(copy, "backup_label"), labelFile);
  await writeFile(join(copy, "global", "pg_control"), control);
}

/** The label of the backup in progress, in the session: a backup that was killed has left it there. */
const labelSetting = "vitrine.backup";

/** A backup that is in progress ends, and notices at its own end. @returns the first segment of the log that the copy needs */
async function begin(client: pg.Client, label: string): Promise<string> {
  // One message, which has no parameters: nothing comes in between.
  const asked = client.query(`/* backup */
    SELECT FROM pg_backup_stop(false) WHERE current_setting('${labelSetting}', true) <> '';
    SELECT set_config('${labelSetting}', '${label}', false), pg_walfile_name(pg_backup_start('${label}', true)) AS first;
  `);
  const results = (await asked.catch(throwStopped)) as unknown as readonly pg.QueryResult<{ first: string }>[];
  const [begun] = results.at(-1)?.rows ?? [];
  if (begun === undefined) throw new Error("pg_backup_start has returned nothing.");
  return begun.first;
}

interface EndOfBackup {
  readonly labelFile: string;
  /** Read by the engine, which is not writing it then. */
  readonly control: Buffer;
  /** The last segment of the log that the copy needs. */
  readonly last: string;
}

async function end(client: pg.Client, label: string): Promise<EndOfBackup> {
  const asked = client.query<EndOfBackup>(
    `/* backup */ SELECT set_config('${labelSetting}', '', false), labelfile AS "labelFile", pg_walfile_name(lsn) AS last,
       pg_read_binary_file('global/pg_control') AS control
     FROM pg_backup_stop(false) WHERE current_setting('${labelSetting}', true) = $1`,
    [label],
  );
  const { rows } = await asked.catch(throwStopped);
  const [ended] = rows;
  if (ended !== undefined) return ended;
  throw new AppError("UNAVAILABLE", "Another backup of this database has begun meanwhile, which ended this one.");
}

async function currentSegment(client: pg.Client): Promise<string> {
  const asked = client.query<{ current: string }>(
    "/* backup */ SELECT pg_walfile_name(pg_current_wal_insert_lsn()) AS current",
  );
  const { rows } = await asked.catch(throwStopped);
  return rows[0]?.current ?? "";
}

/** @throws {AppError} UNAVAILABLE */
function throwStopped(cause: Error): never {
  const message = `The database did not stay available during the backup: run it again. (${cause.message})`;
  throw new AppError("UNAVAILABLE", message, { cause });
}

/** Copies everything but the log, and skips what is removed meanwhile. Yields after each file. */
async function* copyFiles(from: string, to: string): AsyncGenerator<void, void> {
  const entries = await readdir(from, { withFileTypes: true }).catch(emptyIfGone);
  for (const entry of entries) {
    const { name } = entry;
    if (name === logFolder || ofSession.test(name)) continue;
    if (entry.isDirectory()) {
      await mkdir(join(to, name), { mode: 0o700 });
      yield* copyFiles(join(from, name), join(to, name));
    } else {
      await copyFile(join(from, name), join(to, name), constants.COPYFILE_FICLONE).catch(emptyIfGone);
      yield;
    }
  }
}

function emptyIfGone(error: unknown): [] {
  if (isCode(error, "ENOENT")) return [];
  throw error;
}

/** Copies segments of the log, each once, when it is complete. */
class LogCopy {
  #next: string;

  constructor(
    private readonly from: string,
    private readonly to: string,
    first: string,
  ) {
    this.#next = first;
  }

  async copyBefore(segment: string): Promise<void> {
    for (; this.#next < segment; this.#next = after(this.#next)) await this.#copy(this.#next);
  }

  async copyUpTo(last: string): Promise<void> {
    await this.copyBefore(after(last));
  }

  /** A checkpoint removes segments, or renames them to be overwritten: one that still has its name afterwards was copied whole. */
  async #copy(segment: string): Promise<void> {
    try {
      await copyFile(join(this.from, segment), join(this.to, segment), constants.COPYFILE_FICLONE);
      await access(join(this.from, segment));
    } catch (cause) {
      if (!isCode(cause, "ENOENT")) throw cause;
      const message = `The database changed faster than it was copied: run the backup again. (${segment} of its log is gone.)`;
      throw new AppError("UNAVAILABLE", message, { cause });
    }
  }
}

/** The name of the next segment: timeline, part and number, of 8 hexadecimal digits each. */
function after(segment: string): string {
  const part = Number.parseInt(segment.slice(8, 16), 16);
  const number = Number.parseInt(segment.slice(16), 16) + 1;
  const digits = (value: number) => value.toString(16).toUpperCase().padStart(8, "0");
  const isLast = number === segmentsOfPart;
  return `${segment.slice(0, 8)}${digits(isLast ? part + 1 : part)}${digits(isLast ? 0 : number)}`;
}
