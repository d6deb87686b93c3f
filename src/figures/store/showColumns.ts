import { deviceShares, type Kpis } from "../show/kpis.js";
import type { LiveStreamAnalytics } from "../show/kpis.read.js";

/**
 * Where spreadsheets would read a text, or one of its lines, as a formula. The characters are those of OWASP's page on CSV injection,
 * including the wide forms of East Asian texts; a text that begins with a tab or a line break counts as well.
 */
const formulaStart = /^(?=[\t\r\n])|(?<=^|[\r\n])(?=[=+\-@＝＋－＠])/gu;

/** What separates cells. With a semicolon, decimals have a comma, as spreadsheets of such countries expect. */
export type ShowDelimiter = "," | ";";

/**
 * Numbers, or objects of numbers, by the prefix of their columns. Any text may be a device, so only some devices have columns, and all
 * others count as `other`. Sources have none. Later versions add columns at the end.
 */
const kpiColumns = {
  sales: ["live", "replay", "referral", "total"],
  orders: ["live", "replay", "referral", "total"],
  viewers: ["live", "replay", "total", "unique"],
  addToCart: ["live", "replay", "avg"],
  avgViewTime: ["live", "replay", "avg"],
  conversionRate: [],
  averageOrderValue: [],
  refunds: ["live", "replay", "referral", "total"],
  netSales: ["live", "replay", "referral", "total"],
  devices: ["mobile", "tablet", "desktop", "tv", "other"],
  buyers: ["live", "replay", "referral", "total", "unique"],
  buyerRate: ["live", "replay", "total"],
  ordersWithoutViewer: ["live", "replay", "referral", "total"],
  engagedViewers: ["live", "replay", "total", "unique"],
} as const satisfies Record<Exclude<keyof Kpis, "sources">, readonly string[]>;
const kpiNames = Object.keys(kpiColumns) as readonly (keyof typeof kpiColumns)[];
const noShares = Object.fromEntries(kpiColumns.devices.map((name) => [name, 0]));

export const showColumns: readonly string[] = [
  "id",
  "name",
  "status",
  "startedAt",
  "endedAt",
  "durationSeconds",
  "currency",
  ...kpiNames.flatMap((name) => {
    const parts = kpiColumns[name];
    return parts.length === 0 ? [snakeCase(name)] : parts.map((part) => `${snakeCase(name)}_${part}`);
  }),
];

/** Callers' texts are always quoted. */
export const quotedColumns: readonly boolean[] = showColumns.map((name) => name === "id" || name === "name");

/** One cell for each of `showColumns`. */
export function showCells(show: LiveStreamAnalytics, currency: string | null, delimiter: ShowDelimiter): string[] {
  const { id, name, status, startedAt, endedAt, durationSeconds, kpis, devices } = show;
  const grouped = devices.map((one) => ({
    ...one,
    device: Object.hasOwn(noShares, one.device) ? one.device : "other",
  }));
  const shares = deviceShares(grouped).map(({ device, value }) => [device, value] as const);
  const figures = { ...kpis, devices: { ...noShares, ...Object.fromEntries(shares) } };
  return [
    asText(id),
    asText(name),
    status,
    startedAt.toISOString(),
    endedAt?.toISOString() ?? "",
    String(durationSeconds),
    currency ?? "",
    ...kpiNames.flatMap((kpi) =>
      numbersOf(figures[kpi], kpiColumns[kpi]).map((text) => (delimiter === ";" ? text.replace(".", ",") : text)),
    ),
  ];
}

function numbersOf(value: number | object, parts: readonly string[]): string[] {
  if (typeof value === "number") return [String(value)];
  return parts.map((part) => String((value as Readonly<Record<string, unknown>>)[part]));
}

/** Puts an apostrophe before text that would be a formula. */
function asText(text: string): string {
  return text.replaceAll(formulaStart, "'");
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
}
