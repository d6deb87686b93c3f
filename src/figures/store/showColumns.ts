import { deviceShares, kpiNames, type KpiName, kpis, type Kpis } from "../show/kpis.js";
import type { LiveStreamAnalytics } from "../show/kpis.read.js";

/**
 * Where spreadsheets would read a text, or one of its lines, as a formula. The characters are those of OWASP's page on CSV injection,
 * including the wide forms of East Asian texts; a text that begins with a tab or a line break counts as well.
 */
const formulaStart = /^(?=[\t\r\n])|(?<=^|[\r\n])(?=[=+\-@＝＋－＠])/gu;

/** What separates cells. With a semicolon, decimals have a comma, as spreadsheets of such countries expect. */
export type ShowDelimiter = "," | ";";

/**
 * Any text may be a device, so only some devices have columns, and all others count as `other`. Sources have none.
 */
const noShares = Object.fromEntries(kpis.devices.columns.map((name) => [name, 0]));

/** The columns of a KPI in exports. */
export function columnsOf(name: KpiName): readonly string[] {
  const { columns, example } = kpis[name];
  if (columns.length > 0) return columns.map((part) => `${snakeCase(name)}_${part}`);
  return typeof example === "number" ? [snakeCase(name)] : [];
}

export const showColumns: readonly string[] = [
  "id",
  "name",
  "status",
  "startedAt",
  "endedAt",
  "durationSeconds",
  "currency",
  ...kpiNames.flatMap(columnsOf),
];

/** Callers' texts are always quoted. */
export const quotedColumns: readonly boolean[] = showColumns.map((name) => name === "id" || name === "name");

interface ShowFigures extends Omit<LiveStreamAnalytics, "totals"> {
  readonly kpis: Kpis;
}

/** One cell for each of `showColumns`. */
export function showCells(show: ShowFigures, currency: string | null, delimiter: ShowDelimiter): string[] {
  const { id, name, status, startedAt, endedAt, durationSeconds, devices } = show;
  const grouped = devices.map((one) => ({
    ...one,
    device: Object.hasOwn(noShares, one.device) ? one.device : "other",
  }));
  const shares = deviceShares(grouped).map(({ device, value }) => [device, value] as const);
  const figures = { ...show.kpis, devices: { ...noShares, ...Object.fromEntries(shares) } };
  return [
    asText(id),
    asText(name),
    status,
    startedAt.toISOString(),
    endedAt?.toISOString() ?? "",
    String(durationSeconds),
    currency ?? "",
    ...kpiNames.flatMap((kpi) =>
      numbersOf(figures[kpi], kpis[kpi].columns).map((text) => localNumber(text, delimiter)),
    ),
  ];
}

function numbersOf(value: number | object, parts: readonly string[]): string[] {
  if (typeof value === "number") return [String(value)];
  return parts.map((part) => String((value as Readonly<Record<string, unknown>>)[part]));
}

export function localNumber(number: string, delimiter: ShowDelimiter): string {
  return delimiter === ";" ? number.replace(".", ",") : number;
}

/** Puts an apostrophe before text that would be a formula. */
export function asText(text: string): string {
  return text.replaceAll(formulaStart, "'");
}

export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
}
