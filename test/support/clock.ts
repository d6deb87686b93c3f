import { onTestFinished, vi } from "vitest";

/** A moment of the machine's time, as data of a test that a service compares with the time at which it runs. */
export function fromNow(ms: number): Date {
  return new Date(Date.now() + ms);
}

/** A moment that has passed, as fromNow. */
export function ago(ms: number): Date {
  return fromNow(-ms);
}

/** The clocks of this process, Date and performance.now(), which a test moves. */
export interface Clock {
  /** Lets so many milliseconds pass at once. Timers do not notice. */
  pass(ms: number): void;
}

/**
 * Stops the clocks of this process until the end of the test, at the machine's time: only `pass` moves them. Timers, other
 * processes and the database keep the machine's time.
 */
export function stopClock(): Clock {
  stop([]);
  return { pass: (ms) => void vi.advanceTimersByTime(ms) };
}

/** The clocks of this process and its timers, which a test moves. */
export interface Timers extends Clock {
  /** As `pass`, with what timers do meanwhile, and what follows from that without input or output. */
  run(ms: number): Promise<void>;
}

/**
 * Likewise, with timers of setTimeout and setInterval: those that are started from then on run when `pass` or `run` moves the clocks.
 * Those of node:timers/promises keep the machine's time.
 */
export function stopTimers(): Timers {
  stop(["setTimeout", "clearTimeout", "setInterval", "clearInterval"]);
  return {
    pass: (ms) => void vi.advanceTimersByTime(ms),
    run: async (ms) => void (await vi.advanceTimersByTimeAsync(ms)),
  };
}

function stop(timers: readonly ("setTimeout" | "clearTimeout" | "setInterval" | "clearInterval")[]): void {
  const begun = performance.now();
  vi.useFakeTimers({ toFake: ["Date", "performance", ...timers], now: Date.now() });
  onTestFinished(() => void vi.useRealTimers());
  const { performance: stopped } = globalThis;
  const passed = stopped.now.bind(stopped);
  stopped.now = () => begun + passed(); // it would begin at 0, before all that was noted until now
}
