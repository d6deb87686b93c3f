/** How often figures that no subscription brings are asked for. */
const repeatMs = 30_000;

/** The answers of a call, every 30 seconds. In a hidden tab, the next call waits until the tab is shown. */
export async function* repeat<Value>(ask: () => Promise<Value>, signal: AbortSignal): AsyncGenerator<Value, void> {
  while (!signal.aborted) {
    yield await ask();
    await waitFor((end, stopping) => {
      const timer = setTimeout(end, repeatMs);
      stopping.addEventListener("abort", () => clearTimeout(timer));
    }, signal);
    await waitFor((end, stopping) => {
      if (document.visibilityState === "visible") end();
      else document.addEventListener("visibilitychange", end, { signal: stopping });
    }, signal);
  }
}

/** @param start begins to wait; what it starts is to end when `stopping` aborts */
function waitFor(start: (end: () => void, stopping: AbortSignal) => void, signal: AbortSignal): Promise<void> {
  const stopping = new AbortController();
  return new Promise((resolve) => {
    const end = () => {
      stopping.abort();
      resolve();
    };
    signal.addEventListener("abort", end, { signal: stopping.signal });
    if (signal.aborted) end();
    else start(end, stopping.signal);
  });
}
