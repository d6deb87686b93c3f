import type { CallCounter, Policy, Reservation } from "../../schema/limits/policies.js";
import { type LocalCounter, withLocalFallback } from "../../stores/rateLimits/rateLimit.memory.js";
import { createCircuitBreaker } from "../../lib/circuitBreaker.js";
import type { Channel } from "./channel.js";

/** Longer than for Redis: a primary that hangs accepts no connections. */
const replyTimeoutMs = 2_000;

type Verdict = Omit<Reservation, "policy">;

/** In the primary: counts a worker's calls. */
export function countForWorker(channel: Channel, count: LocalCounter): void {
  channel.on("reserve", (id: number, policy: Policy, storeId: string) => {
    const { isGranted, callsLeft, resetMs } = count.reserve(policy, storeId);
    channel.send("reserved", id, { isGranted, callsLeft, resetMs } satisfies Verdict);
  });
}

/**
 * In a worker: the primary's counter, with a local fallback.
 *
 * @param warn called once for each outage
 */
export function createPrimaryCounter(channel: Channel, warn: (problem: Error) => void): CallCounter {
  // This does not leak: the primary answers every call, even if late.
  const pending = new Map<number, (verdict: Verdict) => void>();
  let lastId = 0;
  channel.on("reserved", (id: number, verdict: Verdict) => {
    pending.get(id)?.(verdict);
    pending.delete(id);
  });
  const reserveRemotely = (policy: Policy, storeId: string) =>
    new Promise<Reservation>((resolve) => {
      lastId += 1;
      pending.set(lastId, (verdict) => resolve({ policy, ...verdict }));
      channel.send("reserve", lastId, policy, storeId);
    });
  return withLocalFallback({
    name: "The primary",
    breaker: createCircuitBreaker(warn),
    replyTimeoutMs,
    reserveRemotely,
  });
}
