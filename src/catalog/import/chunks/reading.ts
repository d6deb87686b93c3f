import type { RootDatabase } from "../../../database/client.js";
import { engineOf } from "../../../database/engine.js";
import { Problems } from "../../../errors.js";
import type { ProductChunk } from "../../sources/chunk.js";
import { withThread } from "../../sources/thread.js";
import { findEarlierAnswer } from "../idempotency/once.js";
import { type Chunks, type ImportJob, type ReadResult, throwIfDisconnected } from "../job.js";
import type { ImportResult } from "../result.js";
import type { StagedRows } from "../staging/rows.js";
import type { Staging } from "../staging/stage.js";
import { storeChunks } from "./store.js";

/** Others wait for the catalog while rows are stored. They would wait for too long while more than this is read. */
const storedWhileReadMax = 64 * 1024 * 1024;

/** All rows of an import, which are one chunk or none. */
export interface SentRows {
  readonly kind: "sent";
  readonly chunks: readonly ProductChunk[];
  readonly read: ReadResult;
}

/** The import was stored, or an earlier request with its key was answered. */
interface Done {
  readonly kind: "done";
  readonly result: ImportResult;
}

type Rows = SentRows | StagedRows | Done;

/**
 * Reads the rows of an import. A single chunk stays in memory; several are stored while they are read, or staged. What the catalog
 * refuses is read again and staged, so that every problem is found.
 *
 * @throws {AppError} UNAVAILABLE after too long, or when the client has disconnected; what storeChunks throws
 */
export function readRows(db: RootDatabase, job: ImportJob, staging: Staging): Promise<Rows> {
  const read = async () =>
    (await readOnce(db, job, staging)) ?? (await withChunks(job, (chunks) => staging.addAll(chunks, job.signal)));
  return job.source.isOnThread ? withThread(job.target.storeId, read, job.signal) : read();
}

/** @returns undefined where the catalog refuses rows, and nothing was stored */
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

/** The embedded engine has one session, which others use meanwhile. What is invalid from its beginning waits for no other import. */
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

/** Reads one chunk while the one before is used. */
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

/** Gives the chunks to the first caller alone. */
function once(chunks: Chunks): () => Chunks | undefined {
  let unused: Chunks | undefined = chunks;
  return () => {
    const given = unused;
    unused = undefined;
    return given;
  };
}
