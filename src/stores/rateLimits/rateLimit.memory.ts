import { LRUCache } from "lru-cache";
import type { CallCounter, Policy, PolicyName, Reservation } from "../../schema/limits/policies.js";
import { withTimeout } from "../../lib/timers.js";
import type { CircuitBreaker } from "../../lib/circuitBreaker.js";

/** The most windows of each policy: the least recently used one is dropped. */
const windowsMax = 100_000;

interface Window {
  calls: number;
  readonly endsAt: number;
}

export interface LocalCounter extends CallCounter {
  reserve(policy: Policy, caller: string): Reservation;
  /** Adds a call that the shared counter granted, in a window that ends after `resetMs`. */
  add(policy: Policy, caller: string, resetMs: number): void;
}

/** Fixed windows. @param now a monotonic clock in milliseconds */
export function createLocalCounter(now: () => number = () => performance.now()): LocalCounter {
  // Separate, so that many addresses of one policy do not evict the stores of another.
  const byPolicy = new Map<PolicyName, LRUCache<string, Window>>();
  const windowsOf = ({ name }: Policy): LRUCache<string, Window> => {
    const windows = byPolicy.get(name) ?? new LRUCache<string, Window>({ max: windowsMax });
    byPolicy.set(name, windows);
    return windows;
  };

  const find = (policy: Policy, caller: string): Window | undefined => {
    const window = windowsOf(policy).get(caller);
    return window !== undefined && now() < window.endsAt ? window : undefined;
  };
  const begin = (policy: Policy, caller: string, ms: number): Window => {
    const window = { calls: 0, endsAt: now() + ms };
    windowsOf(policy).set(caller, window, { ttl: Math.max(1, Math.ceil(ms)) });
    return window;
  };

  return {
    reserve(policy, caller) {
      const window = find(policy, caller) ?? begin(policy, caller, policy.windowMs);
      const isGranted = window.calls < policy.callsMax;
      if (isGranted) window.calls += 1;
      const callsLeft = Math.max(0, policy.callsMax - window.calls);
      return { policy, isGranted, callsLeft, resetMs: window.endsAt - now() };
    },
    add(policy, caller, resetMs) {
      const window = find(policy, caller) ?? begin(policy, caller, resetMs);
      window.calls += 1;
    },
    close: () => byPolicy.clear(),
  };
}

interface RemoteCount {
  readonly name: string;
  readonly breaker: CircuitBreaker;
  /** A counter that takes longer is treated as down. */
  readonly replyTimeoutMs: number;
  readonly reserveRemotely: (policy: Policy, storeId: string) => Promise<Reservation>;
}

/**
 * While the shared counter is down, hangs or fails, this process counts locally, and continues from the calls already granted in
 * the window.
 */
export function withLocalFallback({ name, breaker, replyTimeoutMs, reserveRemotely }: RemoteCount): CallCounter {
  const local = createLocalCounter();
  return {
    async reserve(policy, storeId) {
      if (!breaker.allowsCall()) return local.reserve(policy, storeId);
      try {
        const reservation = await withTimeout(reserveRemotely(policy, storeId), replyTimeoutMs, name);
        breaker.answered();
        if (reservation.isGranted) local.add(policy, storeId, reservation.resetMs);
        return reservation;
      } catch (problem) {
        breaker.failed(problem);
        return local.reserve(policy, storeId);
      }
    },
    close: () => local.close(),
  };
}
