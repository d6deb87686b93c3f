import { LRUCache } from "lru-cache";
import type { RootDatabase } from "../../database/client.js";
import { type KnownNames, noNames } from "./keptNames.js";

export interface KnownShow {
  readonly names: KnownNames;
  /** Since the last folding. */
  rowsToFold: number;
}

const namesMax = 100_000;
/** So few do not slow readers measurably. */
export const rowsToFoldMax = 1_000;

const showsByDatabase = new WeakMap<RootDatabase, LRUCache<string, KnownShow>>();

/** A show that is new to the cache may have totals to fold. */
export function knownShow(db: RootDatabase, storeId: string, lsId: string): KnownShow {
  return showsOf(db).get(keyOf(storeId, lsId)) ?? { names: noNames(), rowsToFold: rowsToFoldMax };
}

export function rememberShow(db: RootDatabase, storeId: string, lsId: string, show: KnownShow): void {
  showsOf(db).set(keyOf(storeId, lsId), show);
}

function showsOf(db: RootDatabase): LRUCache<string, KnownShow> {
  const known = showsByDatabase.get(db) ?? new LRUCache({ maxSize: namesMax, sizeCalculation: sizeOf });
  showsByDatabase.set(db, known);
  return known;
}

function sizeOf({ names: { settled } }: KnownShow): number {
  return 100 + settled.LIVE.size + settled.REPLAY.size + settled.PRODUCT.size;
}

/** NUL separates: ids cannot contain it. */
function keyOf(storeId: string, lsId: string): string {
  return `${storeId}\0${lsId}`;
}
