import { AppError, type Path, type Problems, validationFailed } from "../../errors.js";
import type { EncodedRows } from "../product/product.columns.js";
import type { FileReading } from "../sources/csv/csv.js";
import { type ErrorPolicy, type FailedRows, invalidValuesMax } from "../sources/rowChecks.js";
import type { LineSet } from "./rejects.js";
import type { ImportMode } from "./modes/mode.js";

interface ProductChunk {
  readonly rows: number;
  readonly columns: EncodedRows;
}

export interface ReadResult {
  readonly rows: number;
  readonly problems: Pick<Problems, "list" | "total">;
  /** Only with REJECT_FAILED. */
  readonly failed?: FailedRows;
}

interface ReadOptions {
  readonly isPatch?: boolean;
}

/** Read once. */
export interface ProductSource {
  /** Whether it is read on a thread. */
  readonly isOnThread: boolean;
  read(options?: ReadOptions): AsyncGenerator<ProductChunk, ReadResult>;
  /** Where a problem is, for its path. */
  placeOf(line: number, field: string): { path: Path; line?: number };
  /** Where a row is, for the list of failed ones. */
  positionOf(line: number): { index: number | null; line: number | null };
  /** What the reading of a file showed, if asked for. */
  readonly reading?: () => FileReading | undefined;
}

export interface ImportTarget {
  readonly storeId: string;
  readonly siteId: string | undefined;
}

/** May be repeated, but is one import. */
export interface IdempotentRequest {
  readonly key: string;
  /** Equal for equal requests. */
  readonly fingerprint: string;
  readonly field: string;
  readonly onReplay: () => void;
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
  /** Lines of accepted rows where others fail. */
  readonly acceptedLines?: LineSet | undefined;
}

export const importTimeoutMs = 60 * 60_000;

/** @throws {AppError} UNAVAILABLE, as the refusals of everything that such an import may wait for */
export function throwIfDisconnected(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new AppError("UNAVAILABLE", "The client has disconnected. Nothing was stored.");
}

/** @throws {AppError} VALIDATION_FAILED for an import with so many invalid values that its keys are not compared */
export function throwIfTooManyProblems({ problems }: ReadResult): void {
  if (problems.total > invalidValuesMax) throw validationFailed(problems);
}
