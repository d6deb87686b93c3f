/** Resolves after so many milliseconds, by this process's own timers, which a test can stop; it cannot stop those of node:timers/promises. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
