import { resolveSite, type SiteReference } from "../../access/stores/site.js";
import type { RootDatabase } from "../../database/client.js";
import { engineOf } from "../../database/engine.js";
import { mergeSearchIndexSoon } from "../product/search/product.searchIndex.js";
import type { ErrorPolicy } from "../sources/rowChecks.js";
import { withThread } from "../sources/thread.js";
import { refuse, storeChecked, storeUnchecked } from "./decide.js";
import { requireValidKey } from "./idempotency/once.js";
import {
  type IdempotentRequest,
  type ImportJob,
  type ProductSource,
  throwIfDisconnected,
  throwIfTooManyProblems,
} from "./job.js";
import { checkMode, type ModeOptions } from "./modes/mode.js";
import type { LineSet } from "./rejects.js";
import type { ImportResult } from "./result.js";
import type { SentRows, StagedRows } from "./staging/rows.js";
import { hasFaults, readRows, Staging } from "./staging/stage.js";

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
  readonly acceptedLines?: LineSet | undefined;
}

/**
 * Imports all products, or as `errorPolicy` says. The rows are read once, outside of any transaction, and are staged unless they
 * are one chunk. Then one transaction, which locks the catalog, checks and applies them.
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
  const { storeId } = job.target;
  const read = () => readRows(db, job, staging);
  const rows = await (job.source.isOnThread ? withThread(storeId, read, job.signal) : read());
  if (rows.kind === "answered") return rows.answer;
  throwIfTooManyProblems(rows.read);
  if (!needsCheck(db, job, rows)) {
    const result = await storeUnchecked(db, job, rows);
    if (result !== undefined) return result;
  }
  const staged = rows.kind === "staged" ? rows : await staging.addAll(rows);
  // Invalid rows reject the whole import: its keys are compared as well, to report every problem.
  if (job.errorPolicy === "REJECT_ALL" && staged.read.problems.total > 0) return refuse(db, job, staged);
  return storeChecked(db, job, staged);
}

/**
 * Most imports are right, so the constraints of the catalog suffice to check them. Where rows are stored in several statements, an
 * invalid import would be stored in part: those are checked before.
 */
function needsCheck(db: RootDatabase, { dryRun, mode }: ImportJob, { kind, read }: SentRows | StagedRows): boolean {
  const isInParts = kind === "staged" && (mode === "PATCH" || engineOf(db).kind === "embedded");
  return dryRun || isInParts || hasFaults(read);
}
