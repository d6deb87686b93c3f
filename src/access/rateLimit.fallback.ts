import { withTimeout } from "../lib/timeout.js";
import type { Health } from "../lib/outage.js";
import type { CallCount, Policy, Reservation } from "./rateLimit.js";
import { createOwnCount } from "./rateLimit.memory.js";

/** Where calls are counted for several processes. */
interface RemoteCount {
  /** For messages. */
  readonly name: string;
  readonly health: Health;
  /** How long a call waits for its count: what hangs is the same as what is gone. */
  readonly replyTimeoutMs: number;
  readonly ask: (policy: Policy, storeId: string) => Promise<Reservation>;
}

/**
 * The count that is kept elsewhere. While that is gone, hangs or answers nonsense, this process goes by its own count,
 * which holds what it was granted there in the same window.
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
