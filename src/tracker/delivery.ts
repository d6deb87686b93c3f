import { log, on, plain, warn } from "./guard.js";
import type { Outbox, TrackedEvent } from "./outbox.js";

export interface Delivery {
  /** Tries again later what fails. */
  send(): void;
  /** Sends while the page is left. There is no answer, so the events are sent once more, by this page or the next. */
  beacon(): void;
}

/** A receipt, or a problem as the service names it: `["events", 3, "occurredAt"]`. Anything between may answer otherwise. */
interface Answer {
  readonly accepted?: number;
  readonly type?: string;
  readonly errors?: readonly { readonly path?: readonly unknown[] }[];
}

const timeoutMs = 30_000;
const retrySecondsMax = 60;
const retryAfterSecondsMax = 3_600;
/** Clients that the service refuses at the same time come back over as long as they have waited, and this. */
const spreadSeconds = 5;
/** How long at least nothing is sent with a key that is refused: it may be the wrong one for some minutes only. */
const refusedKeySeconds = 180;

/**
 * @param url of the endpoint, unless the attributes have another one
 * @param attributes with the public key, once it is known
 */
export function createDelivery(
  url: string,
  attributes: { readonly key?: string; readonly endpoint?: string },
  outbox: Outbox,
): Delivery {
  const to = () => attributes.endpoint || url;
  /** Whether the page knows that something else than Vitrine is there, or that it refuses. */
  let isTold = false;
  let isSending = false;
  let isKeyRefused = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Of requests, one after the other. */
  let failures = 0;
  /** How long the last failure asks to wait; 0 where there was no answer. */
  let seconds = 0;

  const resume = (): void => {
    clearTimeout(timer);
    timer = undefined;
    void send();
  };
  const send = async (): Promise<void> => {
    const next = isSending || timer ? undefined : nextRequest(attributes.key, outbox, false);
    if (!next) return;
    const { body, events } = next;
    isSending = true;
    let answer: Answer = {};
    /** Status, and what the service alone says: how many events it took, or the kind of problem. */
    let verdict = "";
    seconds = 0;
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const response = await fetch(to(), { method: "POST", body, keepalive: true, credentials: "omit", signal });
      verdict = `${response.status}`;
      seconds = Math.min(Number(response.headers.get("retry-after")), retryAfterSecondsMax) || 0;
      answer = (await response.json()) as Answer;
      verdict += ` ${answer.type ?? answer.accepted}`;
    } catch {
      // No answer, or not the service's: the events are kept.
    }
    log(verdict, events, answer);
    if (!isTold && !/^(?:202|425) /u.test(verdict)) {
      isTold = true;
      warn("by data-endpoint", to(), verdict);
    }
    isKeyRefused = /^40[13] urn:vitrine:/u.test(verdict);
    if (/^(?:202 \d|4(?:00|10|22) urn:vitrine:)/u.test(verdict)) {
      failures = 0;
      settle(events, outbox, answer.errors);
    } else {
      if (isKeyRefused) seconds = refusedKeySeconds;
      const wait = seconds
        ? seconds + (seconds + spreadSeconds) * Math.random()
        : Math.min(2 ** failures++, retrySecondsMax) * (0.5 + Math.random() / 2);
      const isEarly = verdict.startsWith("425 urn:vitrine:");
      outbox.postpone(events, isEarly ? wait : 0);
      if (!isEarly) timer = setTimeout(resume, wait * 1_000);
    }
    isSending = false;
    void send();
  };
  on("online", () => timer && !seconds && resume());

  return {
    send: () => void send(),
    beacon() {
      for (;;) {
        const next = isKeyRefused ? undefined : nextRequest(attributes.key, outbox, true);
        if (!next || !navigator.sendBeacon(to(), next.body)) return;
      }
    },
  };
}

/**
 * Drops events that a problem names, but for a wrong clock: the service's counts instead. The others are sent again. Without a
 * problem, all have arrived, or never will.
 */
function settle(events: readonly TrackedEvent[], outbox: Outbox, problems: Answer["errors"] = []): void {
  let isNamed = false;
  for (const { path: [, index, field] = [] } of problems) {
    const event = events[index as number]; // undefined for a problem of all
    if (!event) continue;
    isNamed = true;
    if (field === "occurredAt" && event.at) event.at = undefined;
    else outbox.settle(event);
  }
  if (!isNamed) events.forEach(outbox.settle);
}

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
function nextRequest(key: string | undefined, outbox: Outbox, isBeacon: boolean): CollectRequest | undefined {
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
