import type { Database } from "./client.js";
import { storeClientOf } from "./shares/caller.js";
import { keptByDatabase, sharesOf } from "./shares/forStore.js";

export type LoadByKeys<Value> = (
  db: Database,
  storeId: string,
  keys: readonly string[],
) => Promise<(key: string) => Value>;

const keysMax = 500;
/** Short, because unsent queries are refused after 4.5 seconds and callers are to be answered within 5. */
const gatherMsMax = 400;

interface Batch<Value> {
  readonly keys: Set<string>;
  readonly found: Promise<(key: string) => Value>;
}

interface StoreLookups<Value> {
  open: Batch<Value> | undefined;
  sent: number;
  readonly waiting: Set<() => void>;
}

/**
 * Joins lookups by key, like a data loader: lookups of one store in one turn of the event loop share a query. While the store's
 * connections are all in use, more lookups collect. An idle server adds no delay.
 */
export function batchLookups<Value>(load: LoadByKeys<Value>) {
  const storesOf = keptByDatabase(() => new Map<string, StoreLookups<Value>>());

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
        else next(); // passes on its slot
        if (lookups.sent === 0 && lookups.open === undefined) storesOf(db).delete(storeId);
      }
    };
    return { keys, found: send() };
  };

  return async (client: Database, storeId: string, key: string): Promise<Value> => {
    const db = storeClientOf(client); // serves all callers whose lookups are joined
    const stores = storesOf(db);
    let lookups = stores.get(storeId);
    if (lookups === undefined) stores.set(storeId, (lookups = { open: undefined, sent: 0, waiting: new Set() }));
    if (lookups.open === undefined || lookups.open.keys.size >= keysMax) lookups.open = openBatch(db, storeId, lookups);
    lookups.open.keys.add(key);
    return (await lookups.open.found)(key);
  };
}

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

/** More would only queue for connections. */
function queriesAtOnce(db: Database): number {
  return sharesOf(db)?.requests.ofStoreMax ?? Infinity;
}

export function batchLookupsById<Row extends { readonly id: string }>(
  load: (db: Database, storeId: string, ids: string[]) => Promise<readonly Row[]>,
) {
  return batchLookups(async (db, storeId, ids) => {
    const rows = await load(db, storeId, [...ids]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return (id): Row | undefined => byId.get(id);
  });
}
