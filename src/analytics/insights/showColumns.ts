import { deviceShares, type Kpis } from "../kpis/kpis.js";
import type { LiveStreamAnalytics } from "../kpis/kpis.read.js";

/** Spreadsheets would take such a text for a formula. */
const formula = /^[=+\-@\t\r]/u;

/** Numbers, or objects of numbers, by the prefix of their columns. */
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
} as const satisfies Record<Exclude<keyof Kpis, "devices">, readonly string[]>;
const kpiNames = Object.keys(kpiColumns) as readonly (keyof typeof kpiColumns)[];

/** These have columns; any text may be a device, and all others count as `other`. */
const deviceNames = ["mobile", "tablet", "desktop", "tv", "other"] as const;

/** Later versions add columns at the end. */
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
  ...deviceNames.map((name) => `devices_${name}`),
];

/** One cell for each of `showColumns`. */
export function showCells(show: LiveStreamAnalytics, currency: string | null): string[] {
  const { id, name, status, startedAt, endedAt, durationSeconds, kpis, devices } = show;
  const isNamed = new Set<string>(deviceNames);
  const grouped = devices.map((one) => ({ ...one, device: isNamed.has(one.device) ? one.device : "other" }));
  const shares = new Map(deviceShares(grouped).map(({ device, value }) => [device, value]));
  return [
    textCell(id),
    textCell(name),
    status,
    startedAt.toISOString(),
    endedAt?.toISOString() ?? "",
    String(durationSeconds),
    currency ?? "",
    ...kpiNames.flatMap((kpi) => numbersOf(kpis[kpi], kpiColumns[kpi])),
    ...deviceNames.map((device) => String(shares.get(device) ?? 0)),
  ];
}

function numbersOf(value: number | object, parts: readonly string[]): string[] {
  if (typeof value === "number") return [String(value)];
  return parts.map((part) => String((value as Readonly<Record<string, unknown>>)[part]));
}

/** Always quoted, with an apostrophe before what would be a formula. */
function textCell(text: string): string {
  return `"${formula.test(text) ? "'" : ""}${text.replaceAll('"', '""')}"`;
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
}
