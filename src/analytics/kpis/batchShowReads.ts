import type { Database } from "../../database/client.js";
import { batchLookups } from "../../database/batchLookups.js";

/**
 * Joins reads of shows with the same arguments into one statement.
 *
 * @param read what is found of each show, or undefined
 * @param nothing for a show that was deleted in between
 */
export function batchShowReads<Args, Value>(
  read: (db: Database, storeId: string, ids: string[], args: Args) => Promise<ReadonlyMap<string, Value>>,
  nothing: Value,
): (db: Database, storeId: string, lsId: string, args: Args) => Promise<Value> {
  const lookUp = batchLookups<Value>(async (db, storeId, keys) => {
    const byArgs = new Map<string, string[]>();
    for (const key of keys) {
      const [args, id] = partsOf(key);
      const ids = byArgs.get(args);
      if (ids === undefined) byArgs.set(args, [id]);
      else ids.push(id);
    }
    const found = new Map<string, ReadonlyMap<string, Value>>();
    for (const [args, ids] of byArgs) found.set(args, await read(db, storeId, ids, JSON.parse(args) as Args));
    return (key) => {
      const [args, id] = partsOf(key);
      return found.get(args)?.get(id) ?? nothing;
    };
  });
  return (db, storeId, lsId, args) => lookUp(db, storeId, JSON.stringify([JSON.stringify(args), lsId]));
}

function partsOf(key: string): readonly [args: string, id: string] {
  return JSON.parse(key) as [string, string];
}

/** Groups rows by show, in their order. */
export function byShow<Row extends { readonly id: string }, Value>(
  rows: readonly Row[],
  valueOf: (row: Omit<Row, "id">) => Value,
): Map<string, Value[]> {
  const found = new Map<string, Value[]>();
  for (const { id, ...row } of rows) {
    const known = found.get(id);
    if (known === undefined) found.set(id, [valueOf(row)]);
    else known.push(valueOf(row));
  }
  return found;
}
