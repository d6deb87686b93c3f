import { LRUCache } from "lru-cache";
import type { RootDatabase } from "../../database/client.js";
import { type KnownNames, noNames } from "./keptNames.js";

/** What a process remembers of a show that it records events of. */
export interface KnownShow {
  readonly names: KnownNames;
  /** Rows of totals that were written since they were folded. */
  rowsToFold: number;
}

/** Names that are remembered, of all shows together. */
const namesMax = 100_000;
/** What few rows more cost a reader cannot be measured. */
export const rowsToFoldMax = 1_000;

const showsByDatabase = new WeakMap<RootDatabase, LRUCache<string, KnownShow>>();

/** What is known of a show: of one that is met for the first time, that its totals may have to be folded. */
export function knownShow(db: RootDatabase, storeId: string, lsId: string): KnownShow {
  return showsOf(db).get(keyOf(storeId, lsId)) ?? { names: noNames(), rowsToFold: rowsToFoldMax };
}

/** Remembers what is known now. */
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

/** Neither id has a NUL. */
function keyOf(storeId: string, lsId: string): string {
  return `${storeId}\0${lsId}`;
}
