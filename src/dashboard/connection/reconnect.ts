import { asFailure, type Failure } from "./failure.js";

export type Connection =
  | { readonly phase: "connecting" }
  | { readonly phase: "open" }
  /** Disconnected. Reconnects at `untilMs`. */
  | { readonly phase: "waiting"; readonly failure: Failure; readonly untilMs: number }
  /** An automatic retry would not help, but the user may retry. */
  | { readonly phase: "failed"; readonly failure: Failure };

interface Listener<Value> {
  readonly onValue: (value: Value) => void;
  readonly onConnection: (connection: Connection) => void;
}

const waitMsMax = 30_000;
/** A stream that lasted this long resets the backoff. */
const stableMs = 10_000;

/** 1, 2, 4 … up to 30 seconds, minus up to half of it at random, so that browsers do not reconnect at the same time. */
export function backoffMs(failures: number, random = Math.random()): number {
  return Math.min(waitMsMax, 1_000 * 2 ** failures) * (1 - random / 2);
}

/**
 * Follows a stream until the signal aborts, and reconnects whenever it breaks: after a growing delay or the server's Retry-After, and
 * immediately when the browser is back online, its tab is shown or `retryNow` is called. After a permanent failure, only these reconnect.
 */
export async function follow<Value>(
  open: () => AsyncIterable<Value>,
  { onValue, onConnection }: Listener<Value>,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    let openedMs: number | undefined;
    let failure = asFailure(undefined); // if the server ends the stream, it is shutting down
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
    if (openedMs !== undefined && performance.now() - openedMs > stableMs) failures = 0;
    const waitMs = failure.retryAfterMs ?? backoffMs(failures);
    onConnection({ phase: "waiting", failure, untilMs: Date.now() + waitMs });
    await pause(waitMs, signal);
  }
}

const wake = new EventTarget();

export function retryNow(): void {
  wake.dispatchEvent(new Event("wake"));
}

function mayPass({ kind }: Failure): boolean {
  return kind === "unreachable" || kind === "rateLimited" || kind === "broken";
}

/** Ends early when the browser is back online, its tab is shown, `retryNow` is called or the signal aborts. @param ms undefined for no other */
function pause(ms: number | undefined, signal: AbortSignal): Promise<void> {
  const events = ["online", "visibilitychange"].map((name) => [globalThis as unknown as EventTarget, name] as const);
  return wait({ events: [[wake, "wake"], ...events], ...(ms !== undefined && { ms }) }, signal);
}

/** How a wait can end, other than by its signal. */
interface Ends {
  /** Without it, only events end the wait. */
  readonly ms?: number;
  readonly events?: readonly (readonly [target: EventTarget, name: string])[];
}

/** Waits until the time has passed, an event comes, or the signal aborts. */
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
