import { useEffect, useRef, useState } from "preact/hooks";
import { type Connection, follow, wait } from "../connection/reconnect.js";

interface Followed<Value> {
  /** The last value that arrived. It stays while another is queried or cannot be read. */
  readonly value: Value | undefined;
  /** Whether the value is the one that was asked for last. */
  readonly isCurrent: boolean;
  readonly connection: Connection;
}

/**
 * The last value of a stream, which is opened again whenever it breaks.
 *
 * @param key identifies what is asked for. A new key opens another stream
 */
export function useFollowed<Value>(open: (signal: AbortSignal) => AsyncIterable<Value>, key: string): Followed<Value> {
  const [answer, setAnswer] = useState<{ readonly key: string; readonly value: Value }>();
  const [connection, setConnection] = useState<Connection>({ phase: "connecting" });
  const latest = useRef(open);
  latest.current = open;
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    // An offline browser may keep its connections open for minutes.
    let attempt = new AbortController();
    addEventListener("offline", () => attempt.abort(), { signal });
    const start = () => {
      attempt = new AbortController();
      return latest.current(AbortSignal.any([signal, attempt.signal]));
    };
    const onValue = (value: Value) => setAnswer({ key, value });
    void follow(start, { onValue, onConnection: setConnection }, signal);
    return () => leaving.abort();
  }, [key]);
  return { value: answer?.value, isCurrent: answer?.key === key, connection };
}

/**
 * Asks immediately and at an interval while the tab is visible. After a failure, waits as a stream does before it reconnects.
 *
 * @param key identifies what is asked for. A new key asks immediately
 */
export function usePolled<Value>(
  ask: (signal: AbortSignal) => Promise<Value>,
  key: string,
  everyMs = 30_000,
): Followed<Value> {
  return useFollowed((signal) => repeat(() => ask(signal), everyMs, signal), key);
}

/** Repeats a call at an interval. In a hidden tab, the next call waits until the tab is shown. */
async function* repeat<Value>(
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
