import { availableParallelism, cpus, totalmem } from "node:os";
import { databaseServer, query } from "./server.js";

/** A line of the table. */
export interface Row {
  readonly work: string;
  /** One value for each round; their median counts. */
  readonly values: readonly number[];
  readonly digits: number;
  readonly unit?: string;
  /** The plain figures behind a ratio. */
  readonly detail?: string;
  /** What the median must reach, and what it aims at. */
  readonly bound?: Bound;
}

interface Bound {
  readonly sign: "≤" | "≥";
  readonly must: number;
  readonly aim: number;
}

export const atMost = (must: number, aim: number): Bound => ({ sign: "≤", must, aim });
export const atLeast = (must: number, aim: number): Bound => ({ sign: "≥", must, aim });

export function markdownTable(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const { bound } = row;
    const limit = (value: number) => `${bound?.sign} ${format(row, value)}`;
    const met = isMet(row) ? "yes" : "**no**";
    const bounds = bound === undefined ? ["", "", ""] : [limit(bound.must), limit(bound.aim), met];
    return `| ${[row.work, measured(row), ...bounds].join(" | ")} |`;
  });
  return ["| Work | Median (range) | Bound | Target | Within bound |", "|---|---|---|---|---|", ...lines].join("\n");
}

/** Whether the median reaches what it must; true where there is no such bound. */
export function isMet({ bound, values }: Row): boolean {
  if (bound === undefined) return true;
  return bound.sign === "≤" ? median(values) <= bound.must : median(values) >= bound.must;
}

/** The machine, as it describes itself. */
export async function describeMachine(): Promise<string> {
  const version = await query(databaseServer, "SHOW server_version").then(
    ([row]) => `PostgreSQL ${row.server_version}`,
    () => "no PostgreSQL server",
  );
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${cpus()[0]?.model ?? "unknown CPU"}, ${availableParallelism()} cores, ${gigabytes} GB, Node.js ${process.version}, ${version}`;
}

/** The median of a list with its unit, for details. */
export function plain(values: readonly number[], digits: number, unit: string): string {
  return format({ digits, unit }, median(values));
}

/** The middle value; of an even number of values the upper one. */
function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value below which that share of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;
}

/** Says on standard error how far the run is; standard output is for the table. */
export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

function measured(row: Row): string {
  const { values, digits, detail } = row;
  const [lowest, highest] = [Math.min(...values), Math.max(...values)].map((value) => format({ digits }, value));
  return `${format(row, median(values))} (${lowest} – ${highest})${detail === undefined ? "" : `: ${detail}`}`;
}

function format({ digits, unit }: Pick<Row, "digits" | "unit">, value: number): string {
  const number = value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return unit === undefined ? number : `${number} ${unit}`;
}
