/** After a failure, so that not every call waits for a service that is down. */
const restMs = 1_000;

/** Whether an external service works, as far as its use has shown. */
export type Health = ReturnType<typeof watchHealth>;

/** @param warn called once for each outage */
export function watchHealth(warn: (problem: Error) => void) {
  let isDown = false;
  let restsUntil = 0;
  return {
    /** During an outage, true for one call after each pause. */
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
