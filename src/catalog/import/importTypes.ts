import { AppError, type Path, type Problems, validationFailed } from "../../errors.js";
import type { ProductChunk } from "../../files/chunk.js";
import type { FileReading } from "../../files/csv/csv.js";
import { type ErrorPolicy, type FailedRows, invalidValuesMax } from "../../files/rowChecks.js";
import type { ImportMode } from "./modes/mode.js";

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
