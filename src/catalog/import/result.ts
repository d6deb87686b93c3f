import type { Problem } from "../../errors.js";
import { count } from "../../lib/text.js";
import type { FileReading } from "../../files/csv/csv.js";
import type { ImportJob } from "./importTypes.js";
import type { ImportMode } from "./modes/mode.js";

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
