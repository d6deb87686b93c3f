import { LRUCache } from "lru-cache";
import type { RootDatabase } from "../../database/client.js";
import { storeClientOf } from "../../database/shares/caller.js";
import { keptByDatabase } from "../../database/shares/forStore.js";
import { showKey } from "../shows/liveStream.js";
import { foldTotals } from "./fold.js";

interface DueShow {
  readonly db: RootDatabase;
  readonly storeId: string;
  readonly lsId: string;
}

/** Others are folded when something is recorded next. */
const showsMax = 10_000;
const dueOf = keptByDatabase(() => new LRUCache<string, DueShow>({ max: showsMax }));

/** The next foldDue of this database folds the show. */
export function noteDue(db: RootDatabase, storeId: string, lsId: string): void {
  dueOf(db).set(showKey(storeId, lsId), { db: storeClientOf(db), storeId, lsId });
}

/**
 * Folds the totals of the shows that are due, so that few slots remain when recording stops.
 *
 * @throws the first error, after all were tried; a show that failed stays noted
 */
export async function foldDue(db: RootDatabase, signal: AbortSignal): Promise<void> {
  const due = dueOf(db);
  let failure: unknown;
  for (const [key, show] of Array.from(due.entries())) {
    if (signal.aborted) return;
    due.delete(key); // first: what is recorded meanwhile notes it again
    try {
      await foldTotals(show.db, show.storeId, show.lsId);
    } catch (error) {
      noteDue(show.db, show.storeId, show.lsId);
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}
