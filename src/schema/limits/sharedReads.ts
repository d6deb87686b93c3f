import { LRUCache } from "lru-cache";
import type { PolicyName, RateLimits, Reservation } from "./policies.js";
import type { Context } from "../context.js";
import { admitRoot, announce, type Resolver } from "./rateLimit.js";

/** A read that others may share. */
interface Read {
  /** Its place under the rate limit; undefined without one. */
  readonly admitted: Promise<Reservation | undefined>;
  readonly admittedAt: number;
  result: Promise<unknown>;
  readAt: number;
}

interface Reads {
  readonly byKey: LRUCache<string, Read>;
  /** A number that changes when the store changes, for a while. */
  readonly versions: LRUCache<string, number>;
}

const countedMs = 10_000;
/** Readers see changes by other processes as late as subscribers do. */
const sharedMs = 1_000;
/** In all; each result has a few kilobytes. */
const readsMax = 500;
const versionsMax = 10_000;

/** By service, because a test runs several. */
const ofService = new WeakMap<RateLimits, Reads>();
let version = 0;

/**
 * Limits the rate of a root field that reads figures of the whole store. Equal reads of a store within ten seconds are one call, and
 * within a second they share one result, so that many open dashboards do not use up the limit of other callers. After a change
 * of the store through this process, the next read shows it, and counts again.
 *
 * @param resolve its result must be the same for all tokens of the store
 */
export function sharedRead<Parent, Args extends object, Result>(
  name: PolicyName,
  resolve: Resolver<Parent, Args, Result>,
): Resolver<Parent, Args, Result> {
  return async (parent, args, context, info) => {
    const { byKey, versions } = readsOf(context);
    const { storeId } = context.identity;
    const byName = Object.entries(args).toSorted(([one], [other]) => (one < other ? -1 : 1));
    const key = JSON.stringify([storeId, versions.get(storeId), info.fieldName, byName]);
    const now = performance.now();
    const known = byKey.get(key);
    const admitted = admitRoot(name, context, info, known === undefined ? undefined : () => known.admitted);
    const read = known ?? { admitted, admittedAt: now, result: Promise.resolve(), readAt: -Infinity };
    if (known === undefined) byKey.set(key, read);
    if (now - read.readAt >= sharedMs) {
      read.readAt = now;
      read.result = admitted.then(() => resolve(parent, args, context, info));
      read.result.catch(() => byKey.delete(key));
    }
    const { result } = read;
    const reservation = await admitted;
    const isShared = known !== undefined;
    if (isShared && reservation !== undefined) announce(context, aged(reservation, now - read.admittedAt));
    return result as Promise<Result>;
  };
}

/** Later reads of the store are not answered with earlier results. */
export function endSharedReads(context: Context): void {
  readsOf(context).versions.set(context.identity.storeId, (version += 1));
}

function readsOf({ limits: { rates } }: Context): Reads {
  const known = ofService.get(rates);
  if (known !== undefined) return known;
  const byKey = new LRUCache<string, Read>({ max: readsMax, ttl: countedMs });
  const reads = { byKey, versions: new LRUCache<string, number>({ max: versionsMax, ttl: countedMs }) };
  ofService.set(rates, reads);
  return reads;
}

function aged(reservation: Reservation, ms: number): Reservation {
  return { ...reservation, resetMs: Math.max(0, reservation.resetMs - ms) };
}
