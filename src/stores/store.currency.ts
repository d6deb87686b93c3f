import type { Database } from "../database/client.js";
import { keptByDatabase } from "../database/shares/forStore.js";
import { CachedFor } from "../lib/cached.js";

/** For amounts of a store without a currency. */
const decimalsByDefault = 2;

const known = new Map<string, number>();

const storesMax = 10_000;
/** Within this time, other processes notice that an operator has set a store's currency. */
const keptMs = 5_000;
const currencies = keptByDatabase(() => new CachedFor<string | null>(keptMs, storesMax));

/** Null if the store has none. @param isFresh reads it from the database, and not from the cache */
export function currencyOf(db: Database, storeId: string, isFresh = false): Promise<string | null> {
  if (isFresh) forgetCurrency(db, storeId);
  const read = async (): Promise<string | null> => {
    // findFirst: see storeStatements.ts
    const store = await db.store.findFirst({ where: { id: storeId }, select: { currency: true } });
    return store?.currency ?? null;
  };
  return currencies(db).get(storeId, read, { waits: false });
}

/** How many decimals the store's amounts have. */
export async function decimalsOfStore(db: Database, storeId: string): Promise<number> {
  return currencyDecimals(await currencyOf(db, storeId));
}

/** Removes it from the cache, because it may have changed. */
export function forgetCurrency(db: Database, storeId: string): void {
  currencies(db).forget(storeId);
}

/** How many decimals amounts of a currency have (ISO 4217): 0 for JPY, 2 for EUR, 3 for KWD. */
export function currencyDecimals(currency: string | null): number {
  if (currency === null) return decimalsByDefault;
  const before = known.get(currency);
  if (before !== undefined) return before;
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  const decimals = format.resolvedOptions().maximumFractionDigits ?? decimalsByDefault;
  known.set(currency, decimals);
  return decimals;
}

/** How many decimals a number has in JSON: 3 for 1.005, 7 for 1e-7. */
export function decimalsOf(value: number): number {
  if (Number.isInteger(value)) return 0;
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [, fraction = ""] = mantissa.split(".");
  return Math.max(0, fraction.length - Number(exponent));
}
