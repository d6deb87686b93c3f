import type { Problem } from "../../errors.js";
import { count } from "../../lib/text.js";
import type { FileReading } from "../reading/csv.js";

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
  /** With REPLACE. */
  readonly deleted?: number;
  readonly failures?: ImportFailures;
  /** A sentence for the end of the message. */
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
  /** If the layout or first products were asked for. */
  readonly reading?: FileReading;
}

const noFailures: ImportFailures = { list: [], total: 0 };

export function importResult(
  { stored, created, deleted, failures = noFailures, remark }: Written,
  { dryRun, reading }: { readonly dryRun: boolean; readonly reading?: FileReading | undefined },
): ImportResult {
  const { list, total: failed } = failures;
  const message = dryRun ? forecast({ stored, deleted, failed }) : report({ stored, deleted, failed });
  return {
    message: remark === undefined ? message : `${message} ${remark}`,
    imported: stored,
    created,
    updated: stored - created,
    deleted: deleted ?? 0,
    failed,
    failures: list,
    ...(reading !== undefined && { reading }),
  };
}

interface Counts {
  readonly stored: number;
  readonly deleted: number | undefined;
  readonly failed: number;
}

function report({ stored, deleted, failed }: Counts): string {
  const done = `${count(stored, "product was", "products were")} imported`;
  return `${done}${deleted === undefined ? "" : `, ${deleted} deleted`}${failed === 0 ? "" : `, ${failed} failed`}.`;
}

function forecast({ stored, deleted, failed }: Counts): string {
  const done = `${count(stored, "product")} would be imported`;
  const gone = deleted === undefined ? "" : `, ${deleted} would be deleted`;
  return `${done}${gone}${failed === 0 ? "" : `, ${failed} would fail`}. Nothing was stored.`;
}
