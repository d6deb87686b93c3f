import { LRUCache } from "lru-cache";
import type { CallCounter, Policy, Reservation } from "./rateLimit.js";

/** Beyond that, the least recently used window is dropped. */
const windowsMax = 100_000;

interface Window {
  calls: number;
  readonly endsAt: number;
}

export interface LocalCounter extends CallCounter {
  reserve(policy: Policy, storeId: string): Reservation;
  /** Counts a call that the shared counter granted, in a window that ends after `resetMs`. */
  add(policy: Policy, storeId: string, resetMs: number): void;
}

/** Counts in fixed windows. @param now a monotonic clock in milliseconds */
export function createLocalCounter(now: () => number = () => performance.now()): LocalCounter {
  const windows = new LRUCache<string, Window>({ max: windowsMax });

  const find = (key: string): Window | undefined => {
    const window = windows.get(key);
    return window !== undefined && now() < window.endsAt ? window : undefined;
  };
  const begin = (key: string, ms: number): Window => {
    const window = { calls: 0, endsAt: now() + ms };
    windows.set(key, window, { ttl: Math.max(1, Math.ceil(ms)) });
    return window;
  };

  return {
    reserve(policy, storeId) {
      const key = keyOf(policy, storeId);
      const window = find(key) ?? begin(key, policy.windowMs);
      const isGranted = window.calls < policy.callsMax;
      if (isGranted) window.calls += 1;
      const callsLeft = Math.max(0, policy.callsMax - window.calls);
      return { policy, isGranted, callsLeft, resetMs: window.endsAt - now() };
    },
    add(policy, storeId, resetMs) {
      const key = keyOf(policy, storeId);
      const window = find(key) ?? begin(key, resetMs);
      window.calls += 1;
    },
    close: () => windows.clear(),
  };
}

function keyOf({ name }: Policy, storeId: string): string {
  return `${name}:${storeId}`;
}
