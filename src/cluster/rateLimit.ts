import type { CallCount, Policy, Reservation } from "../access/rateLimit.js";
import { withLocalFallback } from "../access/rateLimit.fallback.js";
import type { OwnCount } from "../access/rateLimit.memory.js";
import { watchHealth } from "../lib/outage.js";
import type { Channel } from "./channel.js";

/** Longer than for Redis: a primary that hangs accepts no connections either, so that few calls wait for it. */
const replyTimeoutMs = 2_000;

type Verdict = Omit<Reservation, "policy">;

/** In the primary: counts the calls of a worker. */
export function countForWorker(channel: Channel, count: OwnCount): void {
  channel.on("reserve", (id: number, policy: Policy, storeId: string) => {
    const { isGranted, callsLeft, resetMs } = count.reserve(policy, storeId);
    channel.send("reserved", id, { isGranted, callsLeft, resetMs } satisfies Verdict);
  });
}

/**
 * In a worker: the count that the primary keeps for all workers. While the primary does not answer, this process counts on its
 * own, and `warn` is called once.
 */
export function createPrimaryCount(
  channel: Channel,
  warn: (problem: Error) => void,
  timeoutMs: number = replyTimeoutMs,
): CallCount {
  // Bounded: a living primary answers each call, if late, and workers end with a primary that does not.
  const pending = new Map<number, (verdict: Verdict) => void>();
  let lastId = 0;
  channel.on("reserved", (id: number, verdict: Verdict) => {
    pending.get(id)?.(verdict);
    pending.delete(id);
  });
  const ask = (policy: Policy, storeId: string) =>
    new Promise<Reservation>((resolve) => {
      lastId += 1;
      pending.set(lastId, (verdict) => resolve({ policy, ...verdict }));
      channel.send("reserve", lastId, policy, storeId);
    });
  return withLocalFallback({ name: "The primary", health: watchHealth(warn), replyTimeoutMs: timeoutMs, ask });
}
