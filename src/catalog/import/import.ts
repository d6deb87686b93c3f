import { resolveSite, type SiteReference } from "../../access/stores/site.js";
import type { RootDatabase } from "../../database/client.js";
import { engineOf } from "../../database/engine.js";
import { mergeSearchIndexSoon } from "../product.searchIndex.js";
import type { ErrorPolicy } from "../reading/rowChecks.js";
import { withThread } from "../reading/thread.js";
import { decide, refuse, type Request } from "./decide.js";
import { findEarlierAnswer, type IdempotentRequest, requireValidKey } from "./idempotency/once.js";
import { type ImportJob, type ProductSource, throwIfDisconnected, throwIfTooManyProblems } from "./job.js";
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
    signal,
    acceptedLines,
  };
  const request = job.dryRun ? undefined : idempotency;
  const staging = new Staging(db, job.target);
  try {
    const result = await readAndStore({ db, job, request, staging });
    if (!job.dryRun) mergeSearchIndexSoon(db, result.imported);
    return result;
  } finally {
    await staging.end();
  }
}

async function readAndStore(given: Request & { readonly staging: Staging }): Promise<ImportResult> {
  const { db, job, request, staging } = given;
  const { storeId } = job.target;
  const findAnswer = async () => request && findEarlierAnswer(db, storeId, request);
  const read = () => readRows(job, staging, findAnswer);
  const rows = await (job.source.isOnThread ? withThread(storeId, read, job.signal) : read());
  if (rows.kind === "answered") return rows.answer;
  throwIfTooManyProblems(rows.read);
  const result = await storeUnchecked(given, rows);
  if (result !== undefined) return result;
  const staged = rows.kind === "staged" ? rows : await staging.addAll(rows);
  return isRefused(job, staged) ? refuse(given, staged) : decide(given, staged, { isChecked: true }).then(required);
}

/**
 * Most imports are right, so the constraints of the catalog suffice to check them. Where rows are stored in several statements, an
 * invalid import would be stored in part: those are checked before.
 *
 * @returns undefined where the rows need a check
 */
async function storeUnchecked(given: Request, rows: SentRows | StagedRows): Promise<ImportResult | undefined> {
  const { db, job } = given;
  const needsCheck =
    job.dryRun ||
    hasFaults(rows.read) ||
    (rows.kind === "staged" && (job.mode === "PATCH" || engineOf(db).kind === "embedded"));
  return needsCheck ? undefined : decide(given, rows, { isChecked: false });
}

/** Invalid rows reject the whole import: its keys are compared as well, to report every problem. */
function isRefused({ errorPolicy }: ImportJob, { read }: StagedRows): boolean {
  return errorPolicy === "REJECT_ALL" && read.problems.total > 0;
}

function required(result: ImportResult | undefined): ImportResult {
  if (result === undefined) throw new Error("An import that was checked cannot be refused.");
  return result;
}
