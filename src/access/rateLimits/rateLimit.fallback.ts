import { withTimeout } from "../../lib/timers.js";
import type { CircuitBreaker } from "../../lib/circuitBreaker.js";
import type { CallCounter, Policy, Reservation } from "./rateLimit.js";
import { createLocalCounter } from "./rateLimit.memory.js";

interface RemoteCount {
  readonly name: string;
  readonly breaker: CircuitBreaker;
  /** A counter that hangs is treated like one that is down. */
  readonly replyTimeoutMs: number;
  readonly reserveRemotely: (policy: Policy, storeId: string) => Promise<Reservation>;
}

/**
 * While the shared counter is down, hangs or fails, this process counts locally, on from the calls granted in the same
 * window.
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
