import { LRUCache } from "lru-cache";
import { CachedFor, cachedWith } from "../../lib/cached.js";
import type { Context } from "../context.js";
import type { PolicyName, Reservation } from "./policies.js";
import { admitRoot, announce, type Resolver } from "./rateLimit.js";

/** A call that equal reads share. */
interface Call {
  /** Undefined without a limit. */
  readonly reservation: Reservation | undefined;
  readonly countedAt: number;
}

const countedMs = 10_000;
/** Readers see changes by other processes as late as subscribers do. */
const sharedMs = 1_000;
/** In all; each result has a few kilobytes. */
const readsMax = 500;
const versionsMax = 10_000;
let version = 0;

/** By service, because a test runs several. */
function readsOf({ limits: { rates } }: Context) {
  return cachedWith(rates, "reads", () => ({
    calls: new CachedFor<Call>(countedMs, readsMax),
    results: new CachedFor<unknown>(sharedMs, readsMax),
    /** A number that changes when the store changes, for a while. */
    versions: new LRUCache<string, number>({ max: versionsMax, ttl: countedMs }),
  }));
}

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
    const { calls, results, versions } = readsOf(context);
    const { storeId } = context.identity;
    const byName = Object.entries(args).toSorted(([one], [other]) => (one < other ? -1 : 1));
    const key = JSON.stringify([storeId, versions.get(storeId), info.fieldName, byName]);
    const now = performance.now();
    let isOwn = false;
    const count = async (): Promise<Call> => {
      isOwn = true;
      return { reservation: await admitRoot(name, context, info), countedAt: now };
    };
    const call = calls.get(key, count);
    // Fields below this one are part of the call too, whoever made it.
    if (!isOwn)
      void admitRoot(name, context, info, () => call.then(({ reservation }) => reservation)).catch(() => undefined);
    const read = async (): Promise<unknown> => {
      await call;
      return resolve(parent, args, context, info);
    };
    const result = results.get(key, read);
    const { reservation, countedAt } = await call;
    if (!isOwn && reservation !== undefined) {
      const resetMs = Math.max(0, reservation.resetMs - (now - countedAt));
      announce(context, { ...reservation, resetMs });
    }
    return result as Promise<Result>;
  };
}

/** Later reads of the store are not answered with earlier results. */
export function endSharedReads(context: Context): void {
  readsOf(context).versions.set(context.identity.storeId, (version += 1));
}
