import type { Database } from "./client.js";

/** Finds what a store has under these keys, of which no two are the same: one query, whatever their number. */
export type LoadByKeys<Value> = (
  db: Database,
  storeId: string,
  keys: readonly string[],
) => Promise<(key: string) => Value>;

/** Keys of one query. More of them at one time, and a further query runs beside it. */
const keysMax = 500;

interface Batch<Value> {
  readonly keys: Set<string>;
  readonly found: Promise<(key: string) => Value>;
}

/**
 * A lookup by key whose calls are joined: those for one store that come in the same turn of the event loop, from
 * whichever requests, share one query. On a busy server a lookup then costs a fraction of a query of its own; an idle
 * one waits for nothing but the end of the turn.
 */
export function joinLookups<Value>(load: LoadByKeys<Value>) {
  // A batch stands here only until its turn ends, so these hold no more than is asked at one time.
  const open = new WeakMap<Database, Map<string, Batch<Value>>>();

  const openBatch = (db: Database, batches: Map<string, Batch<Value>>, storeId: string): Batch<Value> => {
    const keys = new Set<string>();
    const found = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      if (batches.get(storeId)?.keys === keys) batches.delete(storeId);
      return load(db, storeId, [...keys]);
    });
    const batch = { keys, found };
    batches.set(storeId, batch);
    return batch;
  };

  return async (db: Database, storeId: string, key: string): Promise<Value> => {
    let batches = open.get(db);
    if (batches === undefined) open.set(db, (batches = new Map()));
    let batch = batches.get(storeId);
    if (batch === undefined || batch.keys.size >= keysMax) batch = openBatch(db, batches, storeId);
    batch.keys.add(key);
    return (await batch.found)(key);
  };
}

/** Lookups of what a store has under ids, joined likewise; undefined where there is nothing. */
export function joinLookupsById<Row extends { readonly id: string }>(
  load: (db: Database, storeId: string, ids: string[]) => Promise<readonly Row[]>,
) {
  return joinLookups(async (db, storeId, ids) => {
    const rows = await load(db, storeId, [...ids]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return (id): Row | undefined => byId.get(id);
  });
}
