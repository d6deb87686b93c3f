import { AppError, type Path, type Problems } from "../../errors.js";
import type { EncodedRows } from "../product.columns.js";
import type { ErrorPolicy, FailedRows } from "../reading/rowChecks.js";
import type { Once } from "./idempotency/once.js";

/** Some rows of an import, ready to be sent. Rows with problems stand among them. */
export interface ProductChunk {
  readonly rows: number;
  readonly columns: EncodedRows;
  /** Whether no row that was read so far has problems. */
  readonly isValid: boolean;
}

/** How an import ended: its rows, and what is wrong with them as far as a row alone tells. */
export interface ReadResult {
  readonly rows: number;
  /** What rejects the whole import. */
  readonly problems: Pick<Problems, "list" | "total">;
  /** With REJECT_FAILED: rows that fail by themselves. */
  readonly failed?: FailedRows;
}

export interface ReadOptions {
  /** Whether chunks need no more than the keys of rows. */
  readonly keysOnly?: boolean;
}

/** Where products come from; it can be read more than once. */
export interface ProductSource {
  /** Whether an import takes more than a moment. One that does not is a single chunk. */
  readonly isLong: boolean;
  read(options?: ReadOptions): AsyncGenerator<ProductChunk, ReadResult>;
  /** Where a row stands, by its line or index. */
  placeOf(line: number, field: string): { path: Path; line?: number };
  /** The same, for an answer that lists rows. */
  positionOf(line: number): { index: number | null; line: number | null };
}

/** Where an import goes. */
export interface ImportTarget {
  readonly storeId: string;
  readonly siteId: string | undefined;
}

/** An import that is to be carried out. */
export interface ImportJob {
  readonly target: ImportTarget;
  readonly source: ProductSource;
  readonly errorPolicy: ErrorPolicy;
  readonly dryRun: boolean;
  /** Goes around the work of the transaction that stores it. */
  readonly once: Once;
  readonly signal: AbortSignal | undefined;
}

/** The longest import; a client of today's networks has given up long before. */
export const importTimeoutMs = 60 * 60_000;

/** Work stops where its caller has gone. @throws {AppError} UNAVAILABLE, which nobody reads */
export function stopIfGone(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new AppError("UNAVAILABLE", "The caller has gone. Nothing was stored.");
}
