import { setTimeout as sleep } from "node:timers/promises";

interface SweepOptions {
  /** How long from the end of a round to the next, on average: each waits half as long to half as long again, so that servers do not sweep at once. */
  readonly everyMs: number;
  /** A round; it ends early, between its statements, once the signal is aborted. */
  readonly work: (signal: AbortSignal) => Promise<void>;
  /** Told what a round failed with; the next one comes all the same. */
  readonly onError: (error: unknown) => void;
}

export interface Sweep {
  /** Ends it, after the statement that a round is at. */
  stop(): Promise<void>;
}

/** Does some work again and again in the background, never twice at one time. It keeps no process alive. */
export function startSweep({ everyMs, work, onError }: SweepOptions): Sweep {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const pauseMs = everyMs * (0.5 + Math.random());
      await sleep(pauseMs, undefined, { ref: false, signal }).catch(() => undefined); // ended by the signal
      if (!signal.aborted) await work(signal).catch(onError);
    }
  };
  const done = run();
  return {
    async stop() {
      stopping.abort();
      await done;
    },
  };
}
