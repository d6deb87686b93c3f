import { log, on, plain, warn } from "./guard.js";
import type { Outbox, TrackedEvent } from "./outbox.js";

export interface Delivery {
  /** Sends waiting events. Tries again later if that fails. */
  send(): void;
  /** Sends while the user leaves the page. We get no answer, so this page or the next one sends the events again. */
  beacon(): void;
}

/** A receipt, or the service's problems, with paths such as `["events", 3, "occurredAt"]`. Proxies may answer anything else. */
interface Answer {
  readonly accepted?: number;
  readonly type?: string;
  readonly errors?: readonly { readonly path?: readonly unknown[] }[];
}

const timeoutMs = 30_000;
const retrySecondsMax = 60;
const retryAfterSecondsMax = 3_600;
/** Clients that were refused at the same time come back spread over the time that they waited, plus this. */
const spreadSeconds = 5;
/** How long to wait at least after the service has refused the key, which may be corrected within minutes. */
const refusedKeySeconds = 180;

/**
 * @param url of the endpoint, if the attributes name none
 * @param attributes contain the public key as soon as it is known
 */
export function createDelivery(
  url: string,
  attributes: { readonly key?: string; readonly endpoint?: string },
  outbox: Outbox,
): Delivery {
  const to = () => attributes.endpoint || url;
  /** Whether we have warned that the endpoint is not Vitrine, or refuses. */
  let isTold = false;
  let isSending = false;
  let isKeyRefused = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Requests that failed in a row. */
  let failures = 0;
  /** How long the last failure asks to wait; 0 if there was no answer. */
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
    /** The status, and what only the service says: how many events it accepted, or the type of problem. */
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
      // There was no answer, or not one of the service: keep the events.
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
 * Drops events that a problem names; if only their time is wrong, keeps them without it, so that the service's clock counts. The other
 * events are sent again. If no problem names an event, all have arrived or never will.
 */
function settle(events: readonly TrackedEvent[], outbox: Outbox, problems: Answer["errors"] = []): void {
  let isNamed = false;
  for (const { path: [, index, field] = [] } of problems) {
    const event = events[index as number]; // undefined if the problem concerns all events
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

/** The service accepts 64 KiB, and so do browsers for all requests that outlive a page. A character has at most 3 bytes. */
const charactersMax = 10_000;

/** For more recent events, the service's clock is better. */
const recentMs = 15_000;

/** Takes as many events as fit into a request. Undefined if there are none, or no key. */
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

/** The event as it is sent. JSON omits undefined values. */
function sentOf({ show: _show, isSent: _isSent, at = Infinity, ...event }: TrackedEvent): object {
  return plain({ ...event, occurredAt: Date.now() - at < recentMs ? undefined : new Date(at).toISOString() });
}
