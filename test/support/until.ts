/** The machine's, also where a test has stopped the clocks. */
const { setTimeout: later } = globalThis;
const { now } = Date;

/** As long as a test waits for what another process or connection does: less than the test itself may take. */
const waitMaxMs = 15_000;

/**
 * Waits until something holds, looking at it every 20 ms.
 *
 * @throws Error after `timeoutMs`, with `what` it waited for
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = waitMaxMs,
): Promise<void> {
  const deadline = now() + timeoutMs;
  while (!(await holds())) {
    if (now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}.`);
    await new Promise((resolve) => later(resolve, 20));
  }
}
