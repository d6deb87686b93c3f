import type { Problem } from "../../errors.js";

export interface ImportFailure {
  readonly index: number | null;
  readonly line: number | null;
  /** As sent, if readable. */
  readonly id: string | null;
  readonly sku: string | null;
  /** The first `rowProblemsMax`. */
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
  readonly failures?: ImportFailures;
}

export interface ImportResult {
  readonly message: string;
  readonly imported: number;
  readonly created: number;
  readonly updated: number;
  readonly failed: number;
  readonly failures: readonly ImportFailure[];
}

const noFailures: ImportFailures = { list: [], total: 0 };

export function importResult(
  { stored, created, failures = noFailures }: Written,
  { dryRun }: { dryRun: boolean },
): ImportResult {
  const { list, total: failed } = failures;
  return {
    message: dryRun ? forecast(stored, failed) : report(stored, failed),
    imported: stored,
    created,
    updated: stored - created,
    failed,
    failures: list,
  };
}

function report(stored: number, failed: number): string {
  const done = stored === 1 ? "1 product was imported" : `${stored} products were imported`;
  return failed === 0 ? `${done}.` : `${done}, ${failed} failed.`;
}

function forecast(stored: number, failed: number): string {
  const done = `${count(stored)} would be imported`;
  return `${failed === 0 ? done : `${done}, ${failed} would fail`}. Nothing was stored.`;
}

function count(products: number): string {
  return products === 1 ? "1 product" : `${products} products`;
}
