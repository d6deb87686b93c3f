import type { Problem } from "../../errors.js";
import { count } from "../../lib/text.js";
import type { FileReading } from "../reading/csv.js";
import type { ImportMode } from "./modes/mode.js";

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

interface ResultOptions {
  readonly mode: ImportMode;
  readonly dryRun: boolean;
  readonly reading?: FileReading | undefined;
}

export function importResult(
  { stored, created, deleted, failures = noFailures, remark }: Written,
  { mode, dryRun, reading }: ResultOptions,
): ImportResult {
  const { list, total: failed } = failures;
  const counts = { mode, stored, created, deleted, failed };
  const message = dryRun ? forecast(counts) : report(counts);
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

interface Counts extends Pick<ResultOptions, "mode"> {
  readonly stored: number;
  readonly created: number;
  readonly deleted: number | undefined;
  readonly failed: number;
}

function report(counts: Counts): string {
  const { number, verb } = mainCount(counts);
  const others = otherCounts(counts).map(([more, done]) => `, ${more} ${done}`);
  return `${count(number, "product was", "products were")} ${verb}${others.join("")}.`;
}

function forecast(counts: Counts): string {
  const { number, verb } = mainCount(counts);
  const others = otherCounts(counts).map(
    ([more, done]) => `, ${more} would ${done === "failed" ? "fail" : `be ${done}`}`,
  );
  return `${count(number, "product")} would be ${verb}${others.join("")}. Nothing was stored.`;
}

/** A patch updates products; it creates one only where all fields of a missing product are given. */
function mainCount({ mode, stored, created }: Counts) {
  return mode === "PATCH" ? { number: stored - created, verb: "updated" } : { number: stored, verb: "imported" };
}

function otherCounts({ mode, created, deleted, failed }: Counts): (readonly [number, string])[] {
  return [
    ...(mode === "PATCH" && created > 0 ? [[created, "created"] as const] : []),
    ...(deleted === undefined ? [] : [[deleted, "deleted"] as const]),
    ...(failed === 0 ? [] : [[failed, "failed"] as const]),
  ];
}
