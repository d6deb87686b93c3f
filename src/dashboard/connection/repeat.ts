import { wait } from "./wait.js";

/** The answers of a call, at an interval. In a hidden tab, the next call waits until the tab is shown. */
export async function* repeat<Value>(
  ask: () => Promise<Value>,
  everyMs: number,
  signal: AbortSignal,
): AsyncGenerator<Value, void> {
  while (!signal.aborted) {
    yield await ask();
    await wait({ ms: everyMs }, signal);
    if (document.visibilityState !== "visible") await wait({ events: [[document, "visibilitychange"]] }, signal);
  }
}
