/** How long what failed is left alone, so that not every call waits for it. */
const restMs = 1_000;

/** Whether something outside of this process works, as far as its use has shown. */
export type Health = ReturnType<typeof watchHealth>;

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
