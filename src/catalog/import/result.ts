import type { Problem } from "../../errors.js";

/** A product of an import that was not stored, and why. */
export interface ImportFailure {
  /** Its place in the list of products. */
  readonly index: number | null;
  /** The line of the CSV on which its row starts. */
  readonly line: number | null;
  /** As they were sent, where they could be read. */
  readonly id: string | null;
  readonly sku: string | null;
  /** The first of its problems. */
  readonly problems: readonly Problem[];
  readonly problemsTotal: number;
}

/** The first products that failed, in their order, and how many there are in all. */
export interface ImportFailures {
  readonly list: readonly ImportFailure[];
  readonly total: number;
}

/** What an import wrote, and what it let go. */
export interface Written {
  readonly stored: number;
  /** How many of those stored are new. */
  readonly created: number;
  readonly failures?: ImportFailures;
}

/** What an import did, or a dry run found that it would do. */
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
