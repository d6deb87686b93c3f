interface SweepOptions {
  /** The average: each pause varies by half, so that servers do not sweep at the same time. */
  readonly everyMs: number;
  /** Stops between statements once the signal is aborted. */
  readonly work: (signal: AbortSignal) => Promise<void>;
  /** Called for the first of several failed rounds in a row. The next round runs nevertheless. */
  readonly onError: (error: unknown) => void;
}

export interface Sweep {
  /** Resolves once the running statement has ended. */
  stop(): Promise<void>;
}

/** Repeats work in the background, one round at a time. It does not keep the process alive. */
export function startSweep({ everyMs, work, onError }: SweepOptions): Sweep {
  const stopping = new AbortController();
  const { signal } = stopping;
  let hasFailed = false;
  const runRound = async (): Promise<void> => {
    try {
      await work(signal);
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) onError(error);
      hasFailed = true;
    }
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await pauseUntil(signal, everyMs * (0.5 + Math.random()));
      if (!signal.aborted) await runRound();
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

/** Resolves after so many milliseconds, or once the signal is aborted. */
function pauseUntil(signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms).unref();
    signal.addEventListener("abort", end);
  });
}
