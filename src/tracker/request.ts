import type { Outbox, TrackedEvent } from "./outbox.js";

/** The body of `POST /collect/v1`. */
interface CollectRequest {
  readonly body: string;
  readonly events: readonly TrackedEvent[];
}

/** The service takes 64 KiB; browsers as much for all requests together that outlive their page. */
const bytesMax = 30_000;
/** For recent events the service's clock is better. */
const recentMs = 15_000;

/** Takes as many events as make a small enough request; undefined if there are none. */
export function nextRequest(
  key: string,
  outbox: Outbox,
  isWanted: (event: TrackedEvent) => boolean,
): CollectRequest | undefined {
  let events = outbox.next(isWanted);
  let body = bodyOf(key, events);
  while (events.length > 1 && new Blob([body]).size > bytesMax) {
    events = events.slice(0, events.length / 2);
    body = bodyOf(key, events);
  }
  return events.length > 0 ? { body, events } : undefined;
}

function bodyOf(key: string, events: readonly TrackedEvent[]): string {
  const sent = events.map(({ id, type, channel, viewerId, seconds, productId, at = Infinity }) => {
    const occurredAt = Date.now() - at < recentMs ? undefined : new Date(at);
    return { id, type, channel, viewerId, seconds, productId, occurredAt };
  });
  return JSON.stringify({ key, show: events[0]?.show, events: sent });
}
