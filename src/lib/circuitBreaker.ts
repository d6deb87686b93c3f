/** The pause after a failure: otherwise every call would wait for a service that is down. */
const retryAfterMs = 1_000;

/** Remembers whether the last call of an external service succeeded. */
export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

/** @param warn called once for each outage */
export function createCircuitBreaker(warn: (problem: Error) => void) {
  let isDown = false;
  let nextTryAt = 0;
  return {
    /** During an outage, true for one call after each pause. */
    allowsCall(): boolean {
      if (!isDown) return true;
      if (performance.now() < nextTryAt) return false;
      nextTryAt = performance.now() + retryAfterMs;
      return true;
    },
    answered: (): void => {
      isDown = false;
    },
    failed: (problem: unknown): void => {
      nextTryAt = performance.now() + retryAfterMs;
      if (isDown) return;
      isDown = true;
      warn(problem instanceof Error ? problem : new Error(String(problem)));
    },
  };
}
