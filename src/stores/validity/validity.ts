import { LRUCache } from "lru-cache";
import type { Database } from "../../database/client.js";
import { CachedFor } from "../../lib/cached.js";
import { AppError } from "../../errors.js";

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
  const trusted = new CachedFor<Known | undefined>(trustMs, knownMax);
  const invalid = new LRUCache<string, true>({ ...trust, max: invalidMax });
  const look = async (key: string, db: Database | undefined): Promise<Known | undefined> => {
    const start = performance.now(); // it may become valid from then on
    const known = await find(key, db);
    if (known === undefined) invalid.set(key, true, { start });
    return known;
  };
  return async (key, db) =>
    invalid.has(key) ? undefined : trusted.get(key, () => look(key, db), { waits: db === undefined });
}

/** A lookup is trusted for 3 seconds, and revoked tokens must stop working within 5. */
const checkMs = 1_500;

type OnEnd = (error: AppError) => void;

/** Tells long requests when their token ends, with one timer and one lookup for all requests of a token. */
export class TokenEnds {
  readonly #byToken = new Map<string, { readonly listeners: Set<OnEnd>; readonly timer: NodeJS.Timeout }>();

  /**
   * @param check rejects with UNAUTHENTICATED once the token is invalid; after any other error it is called again
   * @param onEnd gets that error
   * @returns a function that stops watching
   */
  watch(tokenId: string, check: () => Promise<unknown>, onEnd: OnEnd): () => void {
    const { listeners } = this.#byToken.get(tokenId) ?? this.#begin(tokenId, check);
    listeners.add(onEnd);
    return () => {
      listeners.delete(onEnd);
      const known = this.#byToken.get(tokenId);
      if (known?.listeners !== listeners || listeners.size > 0) return;
      clearInterval(known.timer);
      this.#byToken.delete(tokenId);
    };
  }

  #begin(tokenId: string, check: () => Promise<unknown>) {
    const listeners = new Set<OnEnd>();
    const timer = setInterval(() => void tellIfEnded(listeners, check), checkMs);
    const begun = { listeners, timer };
    this.#byToken.set(tokenId, begun);
    return begun;
  }
}

async function tellIfEnded(listeners: ReadonlySet<OnEnd>, check: () => Promise<unknown>): Promise<void> {
  const current = [...listeners]; // later ones were authenticated later
  try {
    await check();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "UNAUTHENTICATED") return;
    for (const onEnd of current) onEnd(error);
  }
}
