import { deviceShares, type Kpis } from "../kpis/kpis.js";
import type { LiveStreamAnalytics } from "../kpis/kpis.read.js";

/** Spreadsheets would take such a text for a formula. */
const formula = /^[=+\-@\t\r]/u;

/**
 * Numbers, or objects of numbers, by the prefix of their columns. Of devices some have columns: any text may be one, and all
 * others count as `other`. Later versions add columns at the end.
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
} as const satisfies Record<keyof Kpis, readonly string[]>;
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

/** One cell for each of `showColumns`. */
export function showCells(show: LiveStreamAnalytics, currency: string | null): string[] {
  const { id, name, status, startedAt, endedAt, durationSeconds, kpis, devices } = show;
  const grouped = devices.map((one) => ({
    ...one,
    device: Object.hasOwn(noShares, one.device) ? one.device : "other",
  }));
  const shares = deviceShares(grouped).map(({ device, value }) => [device, value] as const);
  const figures = { ...kpis, devices: { ...noShares, ...Object.fromEntries(shares) } };
  return [
    textCell(id),
    textCell(name),
    status,
    startedAt.toISOString(),
    endedAt?.toISOString() ?? "",
    String(durationSeconds),
    currency ?? "",
    ...kpiNames.flatMap((kpi) => numbersOf(figures[kpi], kpiColumns[kpi])),
  ];
}

function numbersOf(value: number | object, parts: readonly string[]): string[] {
  if (typeof value === "number") return [String(value)];
  return parts.map((part) => String((value as Readonly<Record<string, unknown>>)[part]));
}

/** A text is always quoted, with an apostrophe before what would be a formula. */
function textCell(text: string): string {
  return `"${formula.test(text) ? "'" : ""}${text.replaceAll('"', '""')}"`;
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
}
