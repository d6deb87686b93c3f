import { currencyDecimals } from "../../stores/store.currency.js";
import type { Database } from "../../database/client.js";
import { AppError } from "../../errors.js";
import { toUnits } from "../../lib/money.js";
import { type AttributionRule, ruleCodes } from "../../database/codes.js";

const windowHoursMax = 24 * 90;

/** How orders are attributed to shows (docs/attribution.md). */
export const attributionRules = Object.keys(ruleCodes) as readonly AttributionRule[];

export interface Attribution {
  readonly rule: AttributionRule;
  /** How many hours before an order an event may count. */
  readonly windowHours: number;
}

/** How a store's orders are attributed, and the smallest amount into which they are divided. */
export interface AttributionSettings extends Attribution {
  /** The smallest amount of the store's currency, in units (lib/money.ts). */
  readonly step: number;
}

export async function attributionOf(db: Database, storeId: string): Promise<AttributionSettings> {
  const store = await db.store.findFirst({
    where: { id: storeId },
    select: { attributionRule: true, attributionHours: true, currency: true },
  });
  return {
    rule: (store?.attributionRule ?? "AS_SENT") as AttributionRule, // the table's CHECK lists the same rules
    windowHours: store?.attributionHours ?? 0,
    step: toUnits(10 ** -currencyDecimals(store?.currency ?? null)),
  };
}

/** `7d`, `36h`: a window in hours; undefined for anything else. */
export function parseWindow(text: string): number | undefined {
  const [, digits = "", unit] = /^(\d{1,4})([dh])$/u.exec(text) ?? [];
  const hours = Number(digits) * (unit === "d" ? 24 : 1);
  return unit !== undefined && isWindow(hours) ? hours : undefined;
}

function isWindow(hours: number): boolean {
  return Number.isInteger(hours) && hours >= 1 && hours <= windowHoursMax;
}

/** @throws {AppError} VALIDATION_FAILED */
export function requireWindow(hours: number): void {
  if (isWindow(hours)) return;
  const message = `windowHours must be a whole number from 1 to ${windowHoursMax}, not ${hours}.`;
  throw new AppError("VALIDATION_FAILED", message, {
    problems: [{ code: "INVALID_VALUE", message, path: ["windowHours"] }],
  });
}
