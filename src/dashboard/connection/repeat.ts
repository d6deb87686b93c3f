import { wait } from "./wait.js";

/** How often figures that no subscription brings are asked for. */
const repeatMs = 30_000;

/** The answers of a call, every 30 seconds. In a hidden tab, the next call waits until the tab is shown. */
export async function* repeat<Value>(ask: () => Promise<Value>, signal: AbortSignal): AsyncGenerator<Value, void> {
  while (!signal.aborted) {
    yield await ask();
    await wait({ ms: repeatMs }, signal);
    if (document.visibilityState !== "visible") await wait({ events: [[document, "visibilitychange"]] }, signal);
  }
}
