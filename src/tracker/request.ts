import type { Outbox, TrackedEvent } from "./outbox.js";

/** The body of a request to the endpoint. */
interface CollectRequest {
  readonly body: string;
  readonly events: readonly TrackedEvent[];
}

/** The service takes 64 KiB; browsers as much for all requests together that outlive their page. A character has 3 bytes at most. */
const charactersMax = 10_000;
/** For recent events the service's clock is better. */
const recentMs = 15_000;

/** Takes as many events as make a small enough request; undefined if there are none, or no key. */
export function nextRequest(key: string | undefined, outbox: Outbox, isBeacon: boolean): CollectRequest | undefined {
  let events = outbox.next(isBeacon);
  for (;;) {
    const body = JSON.stringify({ key, show: events[0]?.show, events: events.map(sentOf) });
    const isSmall = events.length < 2 || body.length < charactersMax;
    if (isSmall) return key && events[0] ? { body, events } : undefined;
    events = events.slice(0, events.length / 2);
  }
}

/** Without what is undefined, which JSON leaves out. */
function sentOf({ show: _show, isSent: _isSent, at = Infinity, ...event }: TrackedEvent): object {
  return { ...event, occurredAt: Date.now() - at < recentMs ? undefined : new Date(at) };
}
