import { StreamTimeoutError } from "./api.js";

interface Source<Value> {
  /** @param onData to be called for everything that arrives, including heartbeats */
  readonly open: (onData: () => void, signal: AbortSignal) => AsyncIterator<Value, void>;
  readonly poll: () => Promise<Value>;
}

/** A value, and whether it comes from a query, because the stream delivers nothing. */
interface Delivered<Value> {
  readonly value: Value;
  readonly isPolled: boolean;
}

/** The server sends a heartbeat at once. If none arrives in this time although queries are answered, a proxy holds it back. */
const heldBackMs = 5_000;
export const pollMs = 10_000;

/**
 * The values of a stream. If nothing arrives from it although queries are answered, for example behind a proxy that buffers, queries
 * values every 10 seconds, and opens a stream that stays silent again.
 *
 * @throws {Failure} and other errors of the stream and the query
 */
export async function* streamOrPoll<Value>({ open, poll }: Source<Value>): AsyncGenerator<Delivered<Value>, void> {
  let isHeldBack = false;
  for (;;) {
    const closing = new AbortController();
    try {
      const { stream, first, begun } = begin(open, closing.signal);
      while (!(await settlesWithin(isHeldBack ? pollMs : heldBackMs, begun))) {
        const value = await Promise.race([resolved(begun), poll()]);
        if (value === undefined) break;
        isHeldBack = true;
        yield { value, isPolled: true };
      }
      await begun;
      isHeldBack = false;
      for (let next = await first; next.done !== true; next = await stream.next()) {
        yield { value: next.value, isPolled: false };
      }
      return;
    } catch (error) {
      if (!isHeldBack || !(error instanceof StreamTimeoutError)) throw error;
    } finally {
      closing.abort();
    }
  }
}

/** Opens a stream. `begun` settles as soon as anything arrives, or the stream ends or fails. */
function begin<Value>(open: Source<Value>["open"], signal: AbortSignal) {
  let onData = () => {};
  const data = new Promise<void>((resolve) => (onData = resolve));
  const stream = open(() => onData(), signal);
  const first = stream.next();
  return { stream, first, begun: Promise.race([data, first.then(() => undefined)]) };
}

function settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    const settle = () => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settle, settle);
  });
}

/** Resolves when the promise does. If it rejects, stays pending. */
function resolved(promise: Promise<void>): Promise<void> {
  return new Promise((resolve) => void promise.then(resolve, () => undefined));
}
