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

/** @param bytes done so far, of `bytesTotal` */
export type OnProgress = (progress: {
  readonly bytes: number;
  readonly bytesTotal: number;
  readonly files: number;
}) => void;

/** How long others may keep the engine busy. */
const turnTimeoutMs = 600_000;

/** @throws {AppError} NOT_FOUND if DATA_DIR has no embedded database */
export async function requireEmbedded(dataDir: string): Promise<void> {
  if (await isThere(foldersOf(dataDir).database)) return;
  throw new AppError("NOT_FOUND", `There is no embedded database in ${dataDir}.`);
}

/**
 * Writes a consistent backup of the embedded database, even while a server uses it, without delaying that server.
 *
 * @param file is overwritten
 * @returns the size of the file
 * @throws {AppError} UNAVAILABLE if the process that holds the database stops during the backup, or as copyLive does
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

/** Files of the running server that are useless to the next one (PostgreSQL manual, 25.3.4.3). */
const ofSession = /^(?:postmaster\.(?:pid|opts)|pgsql_tmp.*)$/u;

/** How often the new log is copied, because checkpoints remove what they no longer need. */
const logEveryMs = 250;

/** The second part of a segment's name counts 4 GiB of log: this many segments of 16 MB, the default. */
const segmentsOfPart = 256;

/**
 * Copies the files of a database while it is used, by PostgreSQL's low-level base backup (manual, 25.3.4). No request waits, and a
 * suspended copy holds nothing. Files are copied as they are found, with the log written during the copy. Opening the copy
 * replays the log, so that it is the database as of the end of copying.
 *
 * Each step is one message, because others use the embedded engine's only session in between.
 *
 * @throws {AppError} UNAVAILABLE if the log is incomplete, or another backup began during this one
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

/** The session's setting with the label of the backup in progress. A killed backup leaves it there. */
const labelSetting = "vitrine.backup";

/** Ends a backup in progress, which notices that when it finishes. @returns the first segment of the log that the copy needs */
async function begin(client: pg.Client, label: string): Promise<string> {
  // One message without parameters, so that nothing comes in between.
  const asked = client.query(`/* backup */
    SELECT FROM pg_backup_stop(false) WHERE current_setting('${labelSetting}', true) <> '';
    SELECT set_config('${labelSetting}', '${label}', false), pg_walfile_name(pg_backup_start('${label}', true)) AS first;
  `);
  const results = (await asked.catch(throwStopped)) as unknown as readonly pg.QueryResult<{ first: string }>[];
  const [begun] = results.at(-1)?.rows ?? [];
  if (begun === undefined) throw new Error("pg_backup_start returned nothing.");
  return begun.first;
}

interface EndOfBackup {
  readonly labelFile: string;
  /** Read by the engine, so that it is not writing the file at the same time. */
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
  throw new AppError("UNAVAILABLE", "Another backup of this database began and ended this one.");
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

/** Copies everything but the log, and skips files that are removed while it copies. Yields after each file. */
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

  /** Checkpoints remove segments, or rename them to overwrite them. A segment that still has its name afterwards was copied whole. */
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

/** The name of the next segment: timeline, part and number, 8 hexadecimal digits each. */
function after(segment: string): string {
  const part = Number.parseInt(segment.slice(8, 16), 16);
  const number = Number.parseInt(segment.slice(16), 16) + 1;
  const digits = (value: number) => value.toString(16).toUpperCase().padStart(8, "0");
  const isLast = number === segmentsOfPart;
  return `${segment.slice(0, 8)}${digits(isLast ? part + 1 : part)}${digits(isLast ? 0 : number)}`;
}
