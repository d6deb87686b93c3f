import type { Database } from "./client.js";
import { sharesOf } from "./shares/shares.js";

/** Finds what a store has under these keys, of which no two are the same: one query, whatever their number. */
export type LoadByKeys<Value> = (
  db: Database,
  storeId: string,
  keys: readonly string[],
) => Promise<(key: string) => Value>;

/** Keys of one query. More of them at one time, and a further query runs beside it. */
const keysMax = 500;
/** A query that cannot be sent is refused after 4.5 seconds: with this, whoever asks is answered within 5. */
const gatherMsMax = 400;

interface Batch<Value> {
  readonly keys: Set<string>;
  readonly found: Promise<(key: string) => Value>;
}

/** Lookups of one store that are under way. */
interface StoreLookups<Value> {
  /** Takes further keys until it is sent. */
  open: Batch<Value> | undefined;
  /** Queries that were sent, and are not answered yet. */
  sent: number;
  /** Batches that wait for one of these to be answered. */
  readonly waiting: Set<() => void>;
}

/**
 * A lookup by key whose calls are joined: those for one store that come in the same turn of the event loop, from
 * whichever requests, share one query. While the store's share of connections is in use, more of them gather. On a busy
 * server a lookup then costs a fraction of a query of its own; an idle one waits for nothing but the end of the turn.
 */
export function joinLookups<Value>(load: LoadByKeys<Value>) {
  const byDatabase = new WeakMap<Database, Map<string, StoreLookups<Value>>>();

  const openBatch = (db: Database, storeId: string, lookups: StoreLookups<Value>): Batch<Value> => {
    const keys = new Set<string>();
    const send = async (): Promise<(key: string) => Value> => {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (lookups.sent >= queriesAtOnce(db)) await gathering(lookups);
      else lookups.sent += 1;
      if (lookups.open?.keys === keys) lookups.open = undefined;
      try {
        return await load(db, storeId, [...keys]);
      } finally {
        const [next] = lookups.waiting;
        if (next === undefined) lookups.sent -= 1;
        else next(); // it takes this one's place
        if (lookups.sent === 0 && lookups.open === undefined) byDatabase.get(db)?.delete(storeId);
      }
    };
    return { keys, found: send() };
  };

  return async (db: Database, storeId: string, key: string): Promise<Value> => {
    let stores = byDatabase.get(db);
    if (stores === undefined) byDatabase.set(db, (stores = new Map()));
    let lookups = stores.get(storeId);
    if (lookups === undefined) stores.set(storeId, (lookups = { open: undefined, sent: 0, waiting: new Set() }));
    if (lookups.open === undefined || lookups.open.keys.size >= keysMax) lookups.open = openBatch(db, storeId, lookups);
    lookups.open.keys.add(key);
    return (await lookups.open.found)(key);
  };
}

/** Resolves once a query of the store is answered, or after the longest time that keys gather. */
function gathering<Value>(lookups: StoreLookups<Value>): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      lookups.waiting.delete(end);
      resolve();
    };
    const timer = setTimeout(() => {
      lookups.sent += 1;
      end();
    }, gatherMsMax);
    lookups.waiting.add(end);
  });
}

/** As many as a store may have connections: a further one would only wait. */
function queriesAtOnce(db: Database): number {
  return sharesOf(db)?.requests.ofStoreMax ?? Infinity;
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
