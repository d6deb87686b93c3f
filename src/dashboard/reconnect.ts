import { asFailure, type Failure } from "./failure.js";

/** How a stream of values is doing. */
export type Connection =
  | { readonly phase: "connecting" }
  | { readonly phase: "open" }
  /** It broke, and is tried again then. */
  | { readonly phase: "waiting"; readonly failure: Failure; readonly untilMs: number }
  /** Trying again would not help; it is tried when somebody asks for it. */
  | { readonly phase: "failed"; readonly failure: Failure };

interface Listener<Value> {
  readonly onValue: (value: Value) => void;
  readonly onConnection: (connection: Connection) => void;
}

/** The longest wait between two tries. */
const waitMsMax = 30_000;
/** A stream that lasted so long worked: what broke it is another matter. */
const soundMs = 10_000;

/** 1, 2, 4 … up to 30 seconds, less up to a half at random, so that browsers do not all come back at once. */
export function backoffMs(failures: number, random = Math.random()): number {
  return Math.min(waitMsMax, 1_000 * 2 ** failures) * (1 - random / 2);
}

/**
 * Follows a stream until the signal ends it, opening it again whenever it breaks: after a time that grows, or after the
 * one that the server asked for, and at once when the browser is back online or `retryNow` is called. What trying again would
 * not help waits for the latter two.
 */
export async function follow<Value>(
  open: () => AsyncIterable<Value>,
  { onValue, onConnection }: Listener<Value>,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    let openedMs: number | undefined;
    let failure = asFailure(undefined); // a server that ends the stream is going away
    onConnection({ phase: "connecting" });
    try {
      for await (const value of open()) {
        if (signal.aborted) return;
        if (openedMs === undefined) onConnection({ phase: "open" });
        openedMs ??= performance.now();
        onValue(value);
      }
    } catch (error) {
      failure = asFailure(error);
    }
    if (signal.aborted) return;
    if (!mayPass(failure)) {
      onConnection({ phase: "failed", failure });
      await pause(undefined, signal);
      continue;
    }
    if (openedMs !== undefined && performance.now() - openedMs > soundMs) failures = 0;
    const waitMs = failure.retryAfterMs ?? backoffMs(failures);
    onConnection({ phase: "waiting", failure, untilMs: Date.now() + waitMs });
    await pause(waitMs, signal);
  }
}

const wake = new EventTarget();

/** Ends the wait of all that is to be tried again. */
export function retryNow(): void {
  wake.dispatchEvent(new Event("wake"));
}

function mayPass({ kind }: Failure): boolean {
  return kind === "unreachable" || kind === "rateLimited" || kind === "broken";
}

/** @param ms for ever if not given, but for what ends every wait */
function pause(ms: number | undefined, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = new AbortController();
    const end = () => {
      clearTimeout(timer);
      done.abort(); // takes the listeners off
      resolve();
    };
    const timer = ms === undefined ? undefined : setTimeout(end, ms);
    const once = { once: true, signal: done.signal };
    wake.addEventListener("wake", end, once);
    globalThis.addEventListener("online", end, once);
    signal.addEventListener("abort", end, once);
  });
}
