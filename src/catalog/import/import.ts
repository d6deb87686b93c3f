import { resolveSite, type SiteReference } from "../../stores/site.js";
import type { RootDatabase, Database } from "../../database/client.js";
import { engineOf } from "../../database/engine.js";
import { mergeSearchIndexSoon } from "../product/search/product.searchIndex.js";
import { type ErrorPolicy, rowProblemsMax } from "../../files/rowChecks.js";
import { rejectRows, storeChecked, transact } from "./commit.js";
import { findEarlierAnswer, requireValidKey } from "./idempotentImport.js";
import {
  type AcceptedLines,
  type Chunks,
  type IdempotentRequest,
  type ImportJob,
  type ProductSource,
  type ReadResult,
  throwIfDisconnected,
  throwIfTooManyProblems,
  type ImportResult,
  type ImportFailures,
  importResult,
  type Written,
} from "./importTypes.js";
import { checkMode, type ModeOptions } from "./modes/mode.js";
import { Staging } from "./staging/stage.js";
import { Problems, validationFailed } from "../../errors.js";
import type { ProductChunk, RowKeys } from "../../files/chunk.js";
import { withThread } from "../../files/readingThread.js";
import { type StagedRows, withoutNestedLoops } from "./staging/rows.js";
import { isRowRefused } from "../../database/databaseErrors.js";
import { withRawParameters } from "../../database/rawParameters.js";
import { patchedFields, patchProducts } from "../product/product.patch.js";
import { sentRows } from "../product/product.sql.js";
import { nothingDeleted } from "./check.js";
import { contradict, removeOthers } from "./modes/replace.js";
import { assignToSite, assignWritten, isCatalogEmpty, type UpsertKind, upsertProducts } from "./upsert.js";

export interface ImportOptions extends ModeOptions {
  readonly site?: SiteReference | undefined;
  readonly productsMax?: number | undefined;
  readonly idempotency?: IdempotentRequest | undefined;
  /** REJECT_ALL by default. */
  readonly errorPolicy?: ErrorPolicy | null | undefined;
  /** Stores neither products nor the answer under a key. */
  readonly dryRun?: boolean | null | undefined;
  /** Aborted when the client disconnects or its token ends. Then nothing is stored unless all rows were sent. */
  readonly signal?: AbortSignal | undefined;
  /** With REJECT_FAILED, receives the lines of accepted rows if others fail. */
  readonly acceptedLines?: AcceptedLines | undefined;
}

/**
 * Imports all products, or as `errorPolicy` says, in one transaction that locks the catalog, while reading them or once they are
 * staged.
 *
 * @throws {AppError} SITE_NOT_FOUND, VALIDATION_FAILED with every problem, TOO_MANY_DELETIONS, UNAVAILABLE, BAD_REQUEST for an
 *   invalid idempotency key, IDEMPOTENCY_KEY_REUSED, or IDEMPOTENCY_KEY_IN_USE
 */
export async function importFrom(
  db: RootDatabase,
  storeId: string,
  source: ProductSource,
  { site = {}, mode, maxDeletions, idempotency, errorPolicy, dryRun, signal, acceptedLines }: ImportOptions,
): Promise<ImportResult> {
  checkMode({ mode, maxDeletions });
  if (idempotency !== undefined) requireValidKey(idempotency);
  const siteId = await resolveSite(db, storeId, site);
  throwIfDisconnected(signal);
  const job: ImportJob = {
    target: { storeId, siteId },
    source,
    mode: mode ?? "UPSERT",
    maxDeletions,
    errorPolicy: errorPolicy ?? "REJECT_ALL",
    dryRun: dryRun === true,
    idempotency: dryRun === true ? undefined : idempotency,
    signal,
    acceptedLines,
  };
  const staging = new Staging(db, job.target);
  try {
    const result = await readAndStore(db, job, staging);
    if (!job.dryRun) mergeSearchIndexSoon(db, result.imported);
    return result;
  } finally {
    await staging.end();
  }
}

async function readAndStore(db: RootDatabase, job: ImportJob, staging: Staging): Promise<ImportResult> {
  const rows = await readRows(db, job, staging);
  if (rows.kind === "done") return rows.result;
  throwIfTooManyProblems(rows.read);
  if (rows.kind === "sent" && maySuffice(db, job, rows)) {
    const result = await storeChunks(db, job, { isLong: false, chunks: () => sentChunks(rows) });
    if (result !== undefined) return result;
  }
  const staged = rows.kind === "staged" ? rows : await staging.addAll(sentChunks(rows), job.signal);
  // Invalid rows reject the whole import. Its keys are compared nevertheless, to report every problem.
  if (job.errorPolicy === "REJECT_ALL" && staged.read.problems.total > 0) return rejectRows(db, job, staged);
  return storeChecked(db, job, staged);
}

/** Whether the catalog's constraints can check these rows, as they can for most imports. */
function maySuffice(db: RootDatabase, { dryRun, mode, errorPolicy }: ImportJob, { read }: SentRows): boolean {
  if (dryRun || (mode === "REPLACE" && engineOf(db).kind === "embedded")) return false;
  return errorPolicy === "REJECT_FAILED" || read.problems.total === 0;
}

// oxlint-disable-next-line require-await -- has the type of readings, which wait
async function* sentChunks({ chunks, read }: SentRows): Chunks {
  yield* chunks;
  return read;
}

/** Others wait for the catalog while rows are stored as they are read. With more bytes they would wait too long. */
const storedWhileReadMax = 64 * 1024 * 1024;

/** All rows of an import of at most one chunk. */
interface SentRows {
  readonly kind: "sent";
  readonly chunks: readonly ProductChunk[];
  readonly read: ReadResult;
}

/** The import was stored, or its key gave an earlier answer. */
interface Done {
  readonly kind: "done";
  readonly result: ImportResult;
}

type Rows = SentRows | StagedRows | Done;

/**
 * Reads the rows of an import. A single chunk stays in memory; several are stored as they are read, or staged. If the catalog refuses
 * rows, the source is read again and staged, to find every problem.
 *
 * @throws {AppError} UNAVAILABLE after too long, or when the client has disconnected; what storeChunks throws
 */
function readRows(db: RootDatabase, job: ImportJob, staging: Staging): Promise<Rows> {
  const read = async () =>
    (await readOnce(db, job, staging)) ?? (await withChunks(job, (chunks) => staging.addAll(chunks, job.signal)));
  return job.source.isOnThread ? withThread(job.target.storeId, read, job.signal) : read();
}

/** @returns undefined if the catalog refused rows, so that nothing was stored */
function readOnce(db: RootDatabase, job: ImportJob, staging: Staging): Promise<Rows | undefined> {
  const { target, idempotency, signal } = job;
  return withChunks(job, async (chunks) => {
    const first = await chunks.next();
    throwIfDisconnected(signal);
    if (first.done === true) return { kind: "sent", chunks: [], read: first.value };
    const second = await chunks.next();
    if (second.done === true) return { kind: "sent", chunks: [first.value], read: second.value };
    const answer = idempotency && (await findEarlierAnswer(db, target.storeId, idempotency));
    if (answer !== undefined) return { kind: "done", result: answer };
    const begin = [first.value, second.value];
    const all = following(begin, chunks);
    if (!isStoredWhileRead(db, job, begin)) return staging.addAll(all, signal);
    const result = await storeChunks(db, job, { isLong: true, chunks: once(all) });
    return result && { kind: "done", result };
  });
}

/** Not on the embedded engine, whose only session others need. An import that begins with invalid rows does not wait for others. */
function isStoredWhileRead(
  db: RootDatabase,
  { source, dryRun, errorPolicy }: ImportJob,
  begin: readonly ProductChunk[],
): boolean {
  if (dryRun || source.bytes > storedWhileReadMax || engineOf(db).kind === "embedded") return false;
  return errorPolicy === "REJECT_FAILED" || begin.every(({ invalid }) => invalid.length === 0);
}

/** Closes the source at the end. */
async function withChunks<Result>(job: ImportJob, work: (chunks: Chunks) => Promise<Result>): Promise<Result> {
  const chunks = chunksOf(job);
  try {
    return await work(chunks);
  } finally {
    await chunks.return({ rows: 0, problems: new Problems() });
  }
}

/** Reads each chunk while the previous one is used. */
async function* chunksOf({ source, mode }: ImportJob): Chunks {
  const reader = source.read({ isPatch: mode === "PATCH" });
  try {
    let step = await reader.next();
    while (step.done !== true) {
      const next = reader.next();
      next.catch(() => undefined); // awaited later, unless the chunk is the last one used
      yield step.value;
      step = await next;
    }
    return step.value;
  } finally {
    await reader.return({ rows: 0, problems: new Problems() });
  }
}

async function* following(first: readonly ProductChunk[], others: Chunks): Chunks {
  yield* first;
  return yield* others;
}

/** Gives the chunks only to the first caller. */
function once(chunks: Chunks): () => Chunks | undefined {
  let unused: Chunks | undefined = chunks;
  return () => {
    const given = unused;
    unused = undefined;
    return given;
  };
}

interface Stored {
  /** Whether there are several chunks, so that no other import of the store may run at the same time. */
  readonly isLong: boolean;
  /** Called for each attempt of the transaction. Undefined if they cannot be read again. */
  readonly chunks: () => Chunks | undefined;
}

/**
 * Stores chunks as they arrive, in one transaction that locks the catalog. Only the catalog's constraints detect what is wrong.
 *
 * @returns undefined if a row is refused, or is invalid in an import with REJECT_ALL: then nothing was stored
 * @throws {AppError} TOO_MANY_DELETIONS; VALIDATION_FAILED if the file as a whole is invalid
 */
function storeChunks(db: RootDatabase, job: ImportJob, { isLong, chunks }: Stored): Promise<ImportResult | undefined> {
  const use = isLong ? "long" : job.mode === "UPSERT" ? "short" : "short, exclusive";
  return transact(db, job, isLong, async (transaction, lock) => {
    const now = await lock(transaction, use);
    const given = chunks();
    if (given === undefined) return undefined;
    try {
      const written = await writeChunks(transaction, job, { isLong, now, chunks: given });
      return written && importResult(written, job);
    } catch (error) {
      if (isRowRefused(error)) return undefined;
      throw error;
    }
  });
}

interface Writing {
  readonly isLong: boolean;
  /** The time of the import, from `lock`. */
  readonly now: string;
  readonly chunks: Chunks;
}

async function writeChunks(transaction: Database, job: ImportJob, writing: Writing): Promise<Written | undefined> {
  const { target, mode, errorPolicy } = job;
  const rows = await writeRows(transaction, job, writing);
  if (rows === undefined) return undefined;
  const { read, invalid, stored, created, assigned } = rows;
  if (read.problems.total > 0) {
    if (errorPolicy === "REJECT_FAILED") throw validationFailed(read.problems);
    return undefined;
  }
  const { now } = writing;
  if (invalid.length > 0 || mode === "REPLACE") await withoutNestedLoops(transaction);
  if (invalid.length > 0 && (await contradict(transaction, target.storeId, invalid, now))) return undefined;
  if (mode === "PATCH") await assignWritten(transaction, target, now);
  const written = { stored, created, failures: failuresOf(job, read, invalid) };
  if (mode !== "REPLACE") return written;
  if (written.failures.total > invalid.length) return { ...written, deleted: 0, remark: nothingDeleted };
  const added = target.siteId === undefined ? created : assigned;
  return { ...written, deleted: await removeOthers(transaction, job, { now, stored, added, kept: invalid }) };
}

interface WrittenRows {
  readonly read: ReadResult;
  readonly invalid: readonly RowKeys[];
  readonly stored: number;
  readonly created: number;
  /** Products that were not assigned to the site before. */
  readonly assigned: number;
}

async function writeRows(
  transaction: Database,
  { target, mode, errorPolicy, signal, acceptedLines }: ImportJob,
  { isLong, now, chunks }: Writing,
): Promise<WrittenRows | undefined> {
  const kind = await kindOf(transaction, { target, mode }, isLong);
  acceptedLines?.clear(); // an earlier attempt may have filled it
  const invalid: RowKeys[] = [];
  let [stored, created, assigned] = [0, 0, 0];
  for (;;) {
    const step = await chunks.next();
    throwIfDisconnected(signal);
    if (step.done === true) return { read: step.value, invalid, stored, created, assigned };
    const chunk = step.value;
    if (chunk.invalid.length > 0 && errorPolicy === "REJECT_ALL") return undefined;
    for (const row of chunk.invalid) invalid.push(row);
    const counts = await writeChunk(transaction, { target, mode, kind, now }, chunk);
    if (counts.stored !== chunk.rows) return undefined;
    stored += counts.stored;
    created += counts.created;
    assigned += counts.assigned;
    if (acceptedLines !== undefined) noteLines(acceptedLines, chunk);
  }
}

/** Only upserts need to know whether the catalog is empty. */
async function kindOf(
  transaction: Database,
  { target, mode }: Pick<ImportJob, "target" | "mode">,
  isLong: boolean,
): Promise<UpsertKind> {
  if (!isLong) return "upsert, ordered";
  return mode !== "PATCH" && (await isCatalogEmpty(transaction, target.storeId)) ? "insert" : "upsert";
}

interface ChunkWriting extends Pick<ImportJob, "target" | "mode"> {
  readonly kind: UpsertKind;
  readonly now: string;
}

/** @returns how many products were stored: fewer than rows if one is refused */
async function writeChunk(
  transaction: Database,
  { target: { storeId, siteId }, mode, kind, now }: ChunkWriting,
  { rows: count, columns }: ProductChunk,
): Promise<Pick<WrittenRows, "stored" | "created" | "assigned">> {
  if (count === 0) return { stored: 0, created: 0, assigned: 0 };
  return withRawParameters(async (bind) => {
    const rows = sentRows(columns, bind);
    if (mode === "PATCH") {
      const { stored, mispriced } = await patchProducts(transaction, storeId, rows, { ...patchedFields(columns), now });
      return { stored: stored - mispriced, created: 0, assigned: 0 };
    }
    const counts = await upsertProducts(transaction, storeId, rows, now, kind);
    const assigned = siteId === undefined ? 0 : await assignToSite(transaction, { storeId, siteId }, rows);
    return { ...counts, assigned };
  });
}

function noteLines(lines: AcceptedLines, { rows, columns }: ProductChunk): void {
  if (rows > 0) for (const line of columns.line.slice(1, -1).split(",")) lines.add(Number(line));
}

function failuresOf({ source }: ImportJob, { failed }: ReadResult, invalid: readonly RowKeys[]): ImportFailures {
  const { list, total } = failed ?? { list: [], total: 0 };
  const keys = new Map(invalid.map((row) => [row.line, row]));
  const listed = list.map(({ line, problems, problemsTotal }) => {
    const { id = null, sku = null } = keys.get(line) ?? {};
    return { ...source.positionOf(line), id, sku, problems: problems.slice(0, rowProblemsMax), problemsTotal };
  });
  return { list: listed, total };
}
