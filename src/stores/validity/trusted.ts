import { LRUCache } from "lru-cache";
import type { Database } from "../../database/client.js";

/** Revoked tokens and keys must stop working within 5 seconds in every process. */
const trustMs = 3_000;
/** Reads the clock at each call, so that tests can replace it after this file was loaded. */
const trust = { ttl: trustMs, ttlResolution: 0, perf: { now: () => performance.now() } };
const knownMax = 10_000;
/** Separate, because guesses would evict valid ones. */
const invalidMax = 1_000;

/**
 * Looks up a token or key, and trusts the result for 3 seconds. Concurrent calls share one query.
 *
 * @param find returns undefined for an invalid one. It uses the given client, if any
 * @returns as find. With a client, it waits for no other lookup, because that one might wait for the connection that this caller
 * holds
 */
export function createTrusted<Known extends object>(
  find: (key: string, db: Database | undefined) => Promise<Known | undefined>,
): typeof find {
  const trusted = new LRUCache<string, Known>({ ...trust, max: knownMax });
  const invalid = new LRUCache<string, true>({ ...trust, max: invalidMax });
  const underWay = new Map<string, Promise<Known | undefined>>();
  const look = async (key: string, db: Database | undefined): Promise<Known | undefined> => {
    const start = performance.now(); // it may be revoked from then on
    const known = await find(key, db);
    if (known === undefined) invalid.set(key, true, { start });
    else trusted.set(key, known, { start });
    return known;
  };
  const shared = (key: string): Promise<Known | undefined> => {
    const looking = underWay.get(key) ?? look(key, undefined).finally(() => underWay.delete(key));
    underWay.set(key, looking);
    return looking;
  };
  return async (key, db) => {
    if (invalid.has(key)) return undefined;
    return trusted.get(key) ?? (db === undefined ? shared(key) : look(key, db));
  };
}
