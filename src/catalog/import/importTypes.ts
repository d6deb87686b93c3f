import { AppError, type Path, type Problems, validationFailed, type Problem } from "../../errors.js";
import type { ProductChunk } from "../../files/chunk.js";
import type { FileReading } from "../../files/csv/csv.js";
import { type ErrorPolicy, type FailedRows, invalidValuesMax } from "../../files/rowChecks.js";
import type { ImportMode } from "./modes/mode.js";
import { count } from "../../lib/text.js";

export interface ReadResult {
  readonly rows: number;
  readonly problems: Pick<Problems, "list" | "total">;
  /** Only with REJECT_FAILED. */
  readonly failed?: FailedRows;
}

interface ReadOptions {
  readonly isPatch?: boolean;
}

/** The rows of an import, in their order. */
export type Chunks = AsyncGenerator<ProductChunk, ReadResult>;

/** Can be read again from its beginning. */
export interface ProductSource {
  /** The size of the file, the text or the JSON; for texts in UTF-16 code units. */
  readonly bytes: number;
  /** Whether it is read on a thread. */
  readonly isOnThread: boolean;
  read(options?: ReadOptions): Chunks;
  /** Where a problem is, for its path. */
  placeOf(line: number, field: string): { path: Path; line?: number };
  /** Where a row is, for the list of failed ones. */
  positionOf(line: number): { index: number | null; line: number | null };
  /** What reading a file showed, if requested. */
  readonly reading?: () => FileReading | undefined;
}

export interface ImportTarget {
  readonly storeId: string;
  readonly siteId: string | undefined;
}

/** A request that may be repeated and counts as one import. */
export interface IdempotentRequest {
  readonly key: string;
  /** Equal for equal requests. */
  readonly fingerprint: string;
  readonly field: string;
  readonly onReplay: () => void;
}

/** Receives the lines of accepted rows. */
export interface AcceptedLines {
  add(line: number): void;
  /** Called before the lines are sent again. */
  clear(): void;
}

export interface ImportJob {
  readonly target: ImportTarget;
  readonly source: ProductSource;
  readonly mode: ImportMode;
  /** The most products that REPLACE may delete. */
  readonly maxDeletions: number | null | undefined;
  readonly errorPolicy: ErrorPolicy;
  readonly dryRun: boolean;
  readonly idempotency: IdempotentRequest | undefined;
  readonly signal: AbortSignal | undefined;
  /** Receives the lines of accepted rows if others fail. */
  readonly acceptedLines?: AcceptedLines | undefined;
}

export const importTimeoutMs = 60 * 60_000;

/** @throws {AppError} UNAVAILABLE, like everything else that such an import may wait for */
export function throwIfDisconnected(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new AppError("UNAVAILABLE", "The client has disconnected. Nothing was stored.");
}

/** @throws {AppError} VALIDATION_FAILED for an import with so many invalid values that its keys are not compared */
export function throwIfTooManyProblems({ problems }: ReadResult): void {
  if (problems.total > invalidValuesMax) throw validationFailed(problems);
}

export interface ImportFailure {
  readonly index: number | null;
  readonly line: number | null;
  /** As sent; null if it could not be read. */
  readonly id: string | null;
  readonly sku: string | null;
  /** The first `rowProblemsMax` problems. */
  readonly problems: readonly Problem[];
  readonly problemsTotal: number;
}

export interface ImportFailures {
  readonly list: readonly ImportFailure[];
  readonly total: number;
}

export interface Written {
  readonly stored: number;
  readonly created: number;
  /** With REPLACE. */
  readonly deleted?: number;
  readonly failures?: ImportFailures;
  /** A sentence at the end of the message. */
  readonly remark?: string;
}

export interface ImportResult {
  readonly message: string;
  readonly imported: number;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly failed: number;
  readonly failures: readonly ImportFailure[];
  /** If the layout or the first products were requested. */
  readonly reading?: FileReading;
}

export function importResult(
  written: Written,
  { mode, dryRun, source }: Pick<ImportJob, "mode" | "dryRun" | "source">,
): ImportResult {
  const { stored, created, deleted, failures, remark } = written;
  const reading = source.reading?.();
  const message = dryRun ? forecast(written, mode) : report(written, mode);
  return {
    message: remark === undefined ? message : `${message} ${remark}`,
    imported: stored,
    created,
    updated: stored - created,
    deleted: deleted ?? 0,
    failed: failures?.total ?? 0,
    failures: failures?.list ?? [],
    ...(reading !== undefined && { reading }),
  };
}

function report(written: Written, mode: ImportMode): string {
  const { number, verb, others } = countsOf(written, mode);
  const more = others.map((other) => `, ${other.number} ${other.verb}`);
  return `${count(number, "product was", "products were")} ${verb}${more.join("")}.`;
}

function forecast(written: Written, mode: ImportMode): string {
  const { number, verb, others } = countsOf(written, mode);
  const more = others.map(
    (other) => `, ${other.number} would ${other.verb === "failed" ? "fail" : `be ${other.verb}`}`,
  );
  return `${count(number, "product")} would be ${verb}${more.join("")}. Nothing was stored.`;
}

/** A patch updates products, and creates a missing one only if all required fields are given. */
function countsOf({ stored, created, deleted, failures }: Written, mode: ImportMode) {
  const others = [
    ...(mode === "PATCH" && created > 0 ? [{ number: created, verb: "created" }] : []),
    ...(deleted === undefined ? [] : [{ number: deleted, verb: "deleted" }]),
    ...(failures === undefined || failures.total === 0 ? [] : [{ number: failures.total, verb: "failed" }]),
  ];
  const main = mode === "PATCH" ? { number: stored - created, verb: "updated" } : { number: stored, verb: "imported" };
  return { ...main, others };
}
