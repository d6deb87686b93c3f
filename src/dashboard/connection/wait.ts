/** How a wait can end, besides by its signal. */
interface Ends {
  /** Without it, only events end the wait. */
  readonly ms?: number;
  readonly events?: readonly (readonly [target: EventTarget, name: string])[];
}

/** Waits until time has passed, an event is heard, or the signal aborts. */
export function wait({ ms, events = [] }: Ends, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const ended = new AbortController(); // removes the listeners
    const end = () => {
      clearTimeout(timer);
      ended.abort();
      resolve();
    };
    const timer = ms === undefined ? undefined : setTimeout(end, ms);
    for (const [target, name] of [...events, [signal, "abort"] as const]) {
      target.addEventListener(name, end, { signal: ended.signal });
    }
  });
}
