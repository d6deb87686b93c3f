import { LRUCache } from "lru-cache";
import type { RootDatabase } from "../../database/client.js";
import { keptByDatabase } from "../../database/shares/forStore.js";
import { showKey } from "../../shows/liveStream.js";
import { type CachedNames, noNames } from "./countedNames.js";

export interface CachedShow {
  readonly names: CachedNames;
  /** Rows written since the last folding. */
  rowsToFold: number;
  /** The number of consecutive batches without duplicates. */
  batchesWithoutDuplicates: number;
  /** The number of such batches from which on no duplicates are expected. */
  batchesUntilUnexpected: number;
}

/** The size of the cache for all stores, in names: about 40 MB. A show counts as 100 names besides its own. */
export const namesMax = 500_000;
/** The number of rows that does not measurably slow down readers. */
export const rowsToFoldMax = 1_000;
const batchesUntilUnexpectedMin = 16;
const batchesUntilUnexpectedMax = 16_384;

const showsOf = keptByDatabase(() => new LRUCache<string, CachedShow>({ maxSize: namesMax, sizeCalculation: sizeOf }));

/** A show that is new to the cache may have totals to fold. */
export function cachedShow(db: RootDatabase, storeId: string, lsId: string): CachedShow {
  return (
    showsOf(db).get(showKey(storeId, lsId)) ?? {
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

/** After each unexpected duplicate, twice as many batches must have none, because each leaves an error in PostgreSQL's log. */
export function noteDuplicates(show: CachedShow, { wereUnexpected }: { readonly wereUnexpected: boolean }): void {
  show.batchesWithoutDuplicates = 0;
  if (!wereUnexpected) return;
  show.batchesUntilUnexpected = Math.min(show.batchesUntilUnexpected * 2, batchesUntilUnexpectedMax);
}

export function cacheShow(db: RootDatabase, storeId: string, lsId: string, show: CachedShow): void {
  showsOf(db).set(showKey(storeId, lsId), show);
}

function sizeOf({ names: { cached } }: CachedShow): number {
  return 100 + cached.LIVE.size + cached.REPLAY.size + cached.SOURCE.size + cached.PRODUCT.size;
}
