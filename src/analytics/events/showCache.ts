import { LRUCache } from "lru-cache";
import type { RootDatabase } from "../../database/client.js";
import { storeClientOf } from "../../database/shares/caller.js";
import { type CachedNames, noNames } from "./keptNames.js";

export interface CachedShow {
  readonly names: CachedNames;
  /** Rows written since the last folding. */
  rowsToFold: number;
  /** The number of consecutive batches without duplicates. */
  batchesWithoutDuplicates: number;
  /** The number of such batches from which on no duplicates are expected. */
  batchesUntilUnexpected: number;
}

const namesMax = 100_000;
/** The number of rows that does not slow readers measurably. */
export const rowsToFoldMax = 1_000;
const batchesUntilUnexpectedMin = 16;
const batchesUntilUnexpectedMax = 16_384;

const showsByDatabase = new WeakMap<RootDatabase, LRUCache<string, CachedShow>>();

/** A show that is new to the cache may have totals to fold. */
export function cachedShow(db: RootDatabase, storeId: string, lsId: string): CachedShow {
  return (
    showsOf(db).get(keyOf(storeId, lsId)) ?? {
      names: noNames(),
      rowsToFold: rowsToFoldMax,
      batchesWithoutDuplicates: 0,
      batchesUntilUnexpected: batchesUntilUnexpectedMin,
    }
  );
}

export function areDuplicatesExpected(show: CachedShow): boolean {
  return show.batchesWithoutDuplicates < show.batchesUntilUnexpected;
}

/** After each surprise, twice as many batches must have none: each leaves an error in PostgreSQL's log. */
export function noteDuplicates(show: CachedShow, { wereUnexpected }: { readonly wereUnexpected: boolean }): void {
  show.batchesWithoutDuplicates = 0;
  if (!wereUnexpected) return;
  show.batchesUntilUnexpected = Math.min(show.batchesUntilUnexpected * 2, batchesUntilUnexpectedMax);
}

export function cacheShow(db: RootDatabase, storeId: string, lsId: string, show: CachedShow): void {
  showsOf(db).set(keyOf(storeId, lsId), show);
}

function showsOf(client: RootDatabase): LRUCache<string, CachedShow> {
  const db = storeClientOf(client);
  const known = showsByDatabase.get(db) ?? new LRUCache({ maxSize: namesMax, sizeCalculation: sizeOf });
  showsByDatabase.set(db, known);
  return known;
}

function sizeOf({ names: { cached } }: CachedShow): number {
  return 100 + cached.LIVE.size + cached.REPLAY.size + cached.PRODUCT.size;
}

/** NUL separates: ids cannot contain it. */
function keyOf(storeId: string, lsId: string): string {
  return `${storeId}\0${lsId}`;
}
