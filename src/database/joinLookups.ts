import type { Database } from "./client.js";

/** Finds what a store has under these keys: one query, whatever their number. */
export type LoadByKeys<Value> = (
  db: Database,
  storeId: string,
  keys: readonly string[],
) => Promise<(key: string) => Value>;

/** Keys of one query. More of them at one time, and a further query runs beside it. */
const keysMax = 500;

interface Batch<Value> {
  readonly keys: string[];
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
    const keys: string[] = [];
    const found = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      if (batches.get(storeId)?.keys === keys) batches.delete(storeId);
      return load(db, storeId, keys);
    });
    const batch = { keys, found };
    batches.set(storeId, batch);
    return batch;
  };

  return async (db: Database, storeId: string, key: string): Promise<Value> => {
    let batches = open.get(db);
    if (batches === undefined) open.set(db, (batches = new Map()));
    let batch = batches.get(storeId);
    if (batch === undefined || batch.keys.length >= keysMax) batch = openBatch(db, batches, storeId);
    batch.keys.push(key);
    return (await batch.found)(key);
  };
}
