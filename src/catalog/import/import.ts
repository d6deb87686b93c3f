import { resolveSite, type SiteReference } from "../../stores/site.js";
import type { RootDatabase } from "../../database/client.js";
import { engineOf } from "../../database/engine.js";
import { mergeSearchIndexSoon } from "../product/search/product.searchIndex.js";
import type { ErrorPolicy } from "../../files/rowChecks.js";
import { refuse, storeChecked } from "./commit.js";
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
} from "./importTypes.js";
import { checkMode, type ModeOptions } from "./modes/mode.js";
import type { ImportResult } from "./result.js";
import { Staging } from "./staging/stage.js";
import { storeChunks } from "./chunks/storeChunks.js";
import { Problems } from "../../errors.js";
import type { ProductChunk } from "../../files/chunk.js";
import { withThread } from "../../files/readingThread.js";
import type { StagedRows } from "./staging/rows.js";

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
  if (job.errorPolicy === "REJECT_ALL" && staged.read.problems.total > 0) return refuse(db, job, staged);
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
