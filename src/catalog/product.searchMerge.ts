import type { RootDatabase } from "../database/client.js";

/** Fewer rows do not slow a search enough to be worth the work. */
const mergedRowsMin = 1_000;
/** Imports often follow each other: what they leave is merged together, once none has ended for this long. */
const quietMs = 250;

interface Unmerged {
  rows: number;
  timer: NodeJS.Timeout | undefined;
}

const unmerged = new WeakMap<RootDatabase, Unmerged>();

/**
 * To be called after an import, outside of its transaction. What it wrote stands on the pending list of the search index,
 * which every search of every store reads from end to end: 16 MB of it take tens of milliseconds. It is merged into the
 * index in the background. Where that fails, PostgreSQL does it, by autovacuum or by an import that finds the list full.
 */
export function mergeSearchIndexSoon(db: RootDatabase, rows: number): void {
  const state = unmerged.get(db) ?? { rows: 0, timer: undefined };
  unmerged.set(db, state);
  state.rows += rows;
  if (state.rows < mergedRowsMin) return;
  clearTimeout(state.timer);
  state.timer = setTimeout(() => {
    state.rows = 0;
    merge(db).catch(() => undefined); // the database may be closed, or its role not own the index
  }, quietMs).unref();
}

async function merge(db: RootDatabase): Promise<void> {
  await db.$executeRaw`SELECT gin_clean_pending_list('"Product_search_idx"'::regclass)`;
}
