import type { RootDatabase } from "../../database/client.js";
import { pruneBefore, showsWithEventsBefore } from "./pruneBefore.js";
import { pruneEvents } from "./prune.js";

export interface RetentionResult {
  readonly stores: number;
  /** Shows that lost something. */
  readonly shows: readonly { readonly store: string; readonly id: string }[];
  readonly events: number;
  /** Rows that identified distinct viewers of archived shows. */
  readonly viewerRows: number;
}

interface RetentionOptions {
  readonly before: Date;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (progress: { readonly stores: number; readonly rowsRemoved: number }) => void;
}

const storesPerPage = 500;

/**
 * Removes the events of all stores' ended and archived shows that occurred before a time, and the rows that identify viewers of
 * archived shows that ended before it. Totals stay. If a run is interrupted, another one completes it.
 *
 * @throws {AppError} UNAVAILABLE if a show stays locked
 */
export async function pruneAllStores(
  db: RootDatabase,
  { before, signal, onProgress = () => undefined }: RetentionOptions,
): Promise<RetentionResult> {
  const shows: { store: string; id: string }[] = [];
  let [stores, events, viewerRows] = [0, 0, 0];
  for await (const storeId of allStores(db)) {
    if (signal?.aborted === true) break;
    stores += 1;
    const archived = await pruneEvents(db, storeId, { before });
    events += archived.events;
    viewerRows += archived.viewerRows;
    shows.push(...archived.shows.map((id) => ({ store: storeId, id })));
    for (const id of await showsWithEventsBefore(db, storeId, before)) {
      const removed = (await pruneBefore(db, storeId, id, { before, signal })) ?? 0;
      if (removed > 0) shows.push({ store: storeId, id });
      events += removed;
      onProgress({ stores, rowsRemoved: events + viewerRows });
    }
    onProgress({ stores, rowsRemoved: events + viewerRows });
  }
  return { stores, shows, events, viewerRows };
}

async function* allStores(db: RootDatabase): AsyncGenerator<string, void> {
  let after = "";
  for (;;) {
    const page = await db.$queryRaw<{ id: string }[]>`/* all_stores */
      SELECT id FROM "Store" WHERE id > ${after} ORDER BY id LIMIT ${storesPerPage}`;
    for (const { id } of page) yield id;
    if (page.length < storesPerPage) return;
    after = page.at(-1)?.id ?? after;
  }
}

const everyMs = 3_600_000;
const dayMs = 86_400_000;
const quarterMs = 900_000;

/**
 * A round of the sweep for EVENT_RETENTION_DAYS, which works once an hour. Times are cut to quarters of an hour, so that of servers that
 * sweep at the same time, the later ones find the shows done.
 */
export function createRetentionSweep(db: RootDatabase, days: number): (signal: AbortSignal) => Promise<void> {
  let next = 0;
  return async (signal) => {
    if (performance.now() < next) return;
    const before = new Date(Math.floor((Date.now() - days * dayMs) / quarterMs) * quarterMs);
    await pruneAllStores(db, { before, signal });
    next = performance.now() + everyMs;
  };
}
