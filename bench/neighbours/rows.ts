import { atMost, type Row } from "../table.js";
import type { AttackReport } from "./attack.js";
import type { Endpoint, Seen } from "./neighbour.js";

/** What the longest wait and the 99th percentile must be. */
export interface Waits {
  readonly longest: Row["bound"];
  readonly p99?: Row["bound"];
}

export const onPostgresql: Waits = { longest: atMost(250, 100), p99: atMost(50, 25) };
export const onEmbedded: Waits = { longest: atMost(2_000, 500) };

/** What the neighbour saw. */
export function neighbourRows(work: string, { all, readyz, clientLateMs, ...seen }: Seen, waits: Waits): Row[] {
  const each = (value: (endpoint: Endpoint) => number) =>
    `REST ${value(seen.rest).toFixed(0)}, GraphQL ${value(seen.graphql).toFixed(0)}, analytics ${value(seen.analytics).toFixed(0)}`;
  const ms = { digits: 0, unit: "ms" };
  const longest = `${each(({ longestMs }) => longestMs)}; the client was late by ${clientLateMs.toFixed(0)} at most`;
  return [
    row(`${work}: the neighbour's errors`, all.errors, { detail: found(all), bound: atMost(0, 0) }),
    row(`${work}: its longest wait`, all.longestMs, { ...ms, detail: longest, ...bounded(waits.longest) }),
    row(`${work}: its 99th percentile`, all.p99Ms, {
      ...ms,
      detail: each(({ p99Ms }) => p99Ms),
      ...bounded(waits.p99),
    }),
    row(`${work}: /readyz other than 200`, readyz.errors, {
      detail: `${found(readyz)}; longest ${readyz.longestMs.toFixed(0)} ms`,
      bound: atMost(0, 0),
    }),
  ];
}

export function memoryRow(work: string, megabytes: number): Row {
  return row(`${work}: peak memory of the server`, megabytes, { unit: "MB", bound: atMost(600, 450) });
}

const refusedBytesMax = 65_536;

/** What became of the attack itself. Answers that it got are told, and bounds hold for refusals. */
export function attackRows(work: string, report: AttackReport | undefined): Row[] {
  if (report === undefined) return [unmeasured(`${work}: its answers`, "the attacker did not end in time")];
  const { refused, refusedMs, refusedLargeMs, refusedBytes, unnamed, firstUnnamed, busy } = report;
  const ms = { digits: 0, unit: "ms" };
  const rows = [
    row(`${work}: requests of the attack without an answer`, report.failures, {
      detail: outcome(report),
      bound: atMost(0, 0),
    }),
  ];
  if (refusedMs > 0)
    rows.push(row(`${work}: longest until a refusal`, refusedMs, { ...ms, bound: atMost(1_000, 200) }));
  if (refusedLargeMs > 0)
    rows.push(
      row(`${work}: longest until a refusal, over 4 MiB`, refusedLargeMs, { ...ms, bound: atMost(2_000, 200) }),
    );
  if (refused > 0) {
    const wrong = unnamed + (refusedBytes > refusedBytesMax ? 1 : 0);
    const detail = `largest ${refusedBytes.toLocaleString("en")} bytes${firstUnnamed === undefined ? "" : `; ${inTable(firstUnnamed)}`}`;
    rows.push(row(`${work}: refusals over 64 kB or without their limit`, wrong, { detail, bound: atMost(0, 0) }));
  }
  if (busy > 0) {
    const detail = `${busy} busy, ${report.busyWithoutRetry} of them without Retry-After`;
    rows.push(row(`${work}: longest until it is told that the server is busy`, report.busyMs, { ...ms, detail }));
  }
  return rows;
}

/** A row of one value. */
export function row(work: string, value: number, more: Partial<Row> = {}): Row {
  return { work, values: [value], digits: 0, ...more };
}

/** A row that is only reported. */
export function withoutBound(told: Row): Row {
  const { bound: _, ...rest } = told;
  return rest;
}

/** The row of a figure that could not be measured, which counts as missed. */
export function unmeasured(work: string, reason: unknown): Row {
  return row(work, NaN, { detail: inTable(String(reason)), bound: atMost(0, 0) });
}

function bounded(bound: Row["bound"]): Partial<Row> {
  return bound === undefined ? {} : { bound };
}

function found({ requests, firstError }: Endpoint): string {
  return `of ${requests.toLocaleString("en")}${firstError === undefined ? "" : `; ${inTable(firstError)}`}`;
}

function outcome({ statuses, refused, busy, firstFailure }: AttackReport): string {
  const answered = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  const parts = [
    ...answered,
    `${refused} refused`,
    `${busy} busy`,
    ...(firstFailure === undefined ? [] : [firstFailure]),
  ];
  return inTable(parts.join(", "));
}

/** One line without what would end a cell. */
function inTable(text: string): string {
  return text.replaceAll(/[\s|]+/gu, " ").slice(0, 200);
}
