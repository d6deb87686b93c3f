import { resolveSite, type SiteReference } from "../../access/stores/site.js";
import type { RootDatabase } from "../../database/client.js";
import { engineOf } from "../../database/engine.js";
import { mergeSearchIndexSoon } from "../product/search/product.searchIndex.js";
import type { ErrorPolicy } from "../sources/rowChecks.js";
import { refuse, storeChecked } from "./decide.js";
import { requireValidKey } from "./idempotency/once.js";
import {
  type AcceptedLines,
  type Chunks,
  type IdempotentRequest,
  type ImportJob,
  type ProductSource,
  throwIfDisconnected,
  throwIfTooManyProblems,
} from "./job.js";
import { checkMode, type ModeOptions } from "./modes/mode.js";
import type { ImportResult } from "./result.js";
import { readRows, type SentRows } from "./chunks/reading.js";
import { Staging } from "./staging/stage.js";
import { storeChunks } from "./chunks/store.js";

export interface ImportOptions extends ModeOptions {
  readonly site?: SiteReference | undefined;
  readonly productsMax?: number | undefined;
  readonly idempotency?: IdempotentRequest | undefined;
  /** REJECT_ALL by default. */
  readonly errorPolicy?: ErrorPolicy | null | undefined;
  /** Stores nothing, nor the answer under a key. */
  readonly dryRun?: boolean | null | undefined;
  /** When the client disconnects or its token ends: unless all rows were sent, nothing is stored. */
  readonly signal?: AbortSignal | undefined;
  /** With REJECT_FAILED: lines of accepted rows where others fail. */
  readonly acceptedLines?: AcceptedLines | undefined;
}

/**
 * Imports all products, or as `errorPolicy` says, in one transaction that locks the catalog: while they are read, or once they are
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
  // Invalid rows reject the whole import: its keys are compared as well, to report every problem.
  if (job.errorPolicy === "REJECT_ALL" && staged.read.problems.total > 0) return refuse(db, job, staged);
  return storeChecked(db, job, staged);
}

/** Whether the catalog's constraints may suffice to check these rows, as they do for most imports. */
function maySuffice(db: RootDatabase, { dryRun, mode, errorPolicy }: ImportJob, { read }: SentRows): boolean {
  if (dryRun || (mode === "REPLACE" && engineOf(db).kind === "embedded")) return false;
  return errorPolicy === "REJECT_FAILED" || read.problems.total === 0;
}

// oxlint-disable-next-line require-await -- as readings, which wait
async function* sentChunks({ chunks, read }: SentRows): Chunks {
  yield* chunks;
  return read;
}
