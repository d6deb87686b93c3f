import { plain } from "./guard.js";
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
  const bodyOf = () => JSON.stringify(plain({ key, show: events[0]?.show, events: plain(events.map(sentOf)) }));
  let body = bodyOf();
  while (events[1] && body.length >= charactersMax) {
    events = events.slice(0, events.length / 2);
    body = bodyOf();
  }
  if (!key || !events[0]) return undefined;
  for (const event of events) event.isSent = true;
  return { body, events };
}

/** Without what is undefined, which JSON leaves out. */
function sentOf({ show: _show, isSent: _isSent, at = Infinity, ...event }: TrackedEvent): object {
  return plain({ ...event, occurredAt: Date.now() - at < recentMs ? undefined : new Date(at).toISOString() });
}
