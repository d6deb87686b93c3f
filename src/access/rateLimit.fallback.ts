import { withTimeout } from "../lib/timeout.js";
import type { Health } from "../lib/outage.js";
import type { CallCount, Policy, Reservation } from "./rateLimit.js";
import { createOwnCount } from "./rateLimit.memory.js";

interface RemoteCount {
  readonly name: string;
  readonly health: Health;
  /** A counter that hangs is treated like one that is down. */
  readonly replyTimeoutMs: number;
  readonly ask: (policy: Policy, storeId: string) => Promise<Reservation>;
}

/**
 * While the shared counter is down, hangs or fails, this process counts locally, continuing from the calls granted in
 * the same window.
 */
export function withLocalFallback({ name, health, replyTimeoutMs, ask }: RemoteCount): CallCount {
  const own = createOwnCount();
  return {
    async reserve(policy, storeId) {
      if (!health.isWorthATry()) return own.reserve(policy, storeId);
      try {
        const reservation = await withTimeout(ask(policy, storeId), replyTimeoutMs, name);
        health.answered();
        if (reservation.isGranted) own.note(policy, storeId, reservation.resetMs);
        return reservation;
      } catch (problem) {
        health.failed(problem);
        return own.reserve(policy, storeId);
      }
    },
    close: () => own.close(),
  };
}
