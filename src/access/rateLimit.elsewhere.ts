import { inTime } from "../inTime.js";
import type { CallCount, Policy, Reservation } from "./rateLimit.js";
import { createOwnCount } from "./rateLimit.memory.js";

/** How long a count that failed is left alone, so that not every call waits for it. */
const restMs = 1_000;

/** Where calls are counted for several processes. */
interface Elsewhere {
  /** For messages. */
  readonly name: string;
  readonly health: Health;
  /** How long a call waits for its count: what hangs is the same as what is gone. */
  readonly replyTimeoutMs: number;
  readonly ask: (policy: Policy, storeId: string) => Promise<Reservation>;
}

/** Whether a count elsewhere works, as far as calls have shown. */
type Health = ReturnType<typeof watchHealth>;

/**
 * The count that is kept elsewhere. While that is gone, hangs or answers nonsense, this process goes by its own count,
 * which holds what it was granted there in the same window.
 */
export function countElsewhere({ name, health, replyTimeoutMs, ask }: Elsewhere): CallCount {
  const own = createOwnCount();
  return {
    async reserve(policy, storeId) {
      if (!health.isWorthATry()) return own.reserve(policy, storeId);
      try {
        const reservation = await inTime(ask(policy, storeId), replyTimeoutMs, name);
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

/** `warn` is told when it fails, once until it is back. */
export function watchHealth(warn: (problem: Error) => void) {
  let isDown = false;
  let restsUntil = 0;
  return {
    /** While it is down, one call after each rest: the others need not wait with it. */
    isWorthATry(): boolean {
      if (!isDown) return true;
      if (performance.now() < restsUntil) return false;
      restsUntil = performance.now() + restMs;
      return true;
    },
    answered: (): void => {
      isDown = false;
    },
    failed: (problem: unknown): void => {
      restsUntil = performance.now() + restMs;
      if (isDown) return;
      isDown = true;
      warn(problem instanceof Error ? problem : new Error(String(problem)));
    },
  };
}
