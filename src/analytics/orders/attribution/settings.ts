import { currencyDecimals } from "../../../access/stores/currencyDecimals.js";
import type { Database } from "../../../database/client.js";
import { toUnits } from "../units.js";
import type { Attribution, AttributionRule } from "./codes.js";

/** How a store's orders are attributed, and the smallest amount by which they are divided. */
export interface AttributionSettings extends Attribution {
  /** In units (units.ts): one of the last decimals of the store's currency. */
  readonly step: number;
}

export async function attributionOf(db: Database, storeId: string): Promise<AttributionSettings> {
  const store = await db.store.findFirst({
    where: { id: storeId },
    select: { attributionRule: true, attributionHours: true, currency: true },
  });
  return {
    rule: (store?.attributionRule ?? "AS_SENT") as AttributionRule, // a CHECK of the table lists the same
    windowHours: store?.attributionHours ?? 0,
    step: toUnits(10 ** -currencyDecimals(store?.currency ?? null)),
  };
}
