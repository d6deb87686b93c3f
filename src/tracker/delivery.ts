import { attempt } from "./guard.js";
import type { Outbox, TrackedEvent } from "./outbox.js";
import { nextRequest } from "./request.js";

export interface Delivery {
  /** Tries again later what fails. */
  send(): void;
  /** Sends while the page is left. There is no answer, so the events are sent once more, by this page or the next. */
  beacon(): void;
}

/** A problem as the service names it: `["events", 3, "occurredAt"]`. */
interface Problem {
  readonly path?: readonly unknown[];
}

const timeoutMs = 30_000;
const retrySecondsMax = 60;
const retryAfterSecondsMax = 3_600;
/** Clients that the service refuses at the same time come back over as long as they have waited, and over this at least. */
const spreadSecondsMin = 5;

/**
 * @param url of `/collect/v1`
 * @param key the public key
 */
export function createDelivery(url: string, key: string, outbox: Outbox): Delivery {
  let isSending = false;
  let isRefused = false;
  const pause = createPause(() => void send());

  async function send(): Promise<void> {
    if (isSending || pause.isRunning()) return;
    const next = nextRequest(key, outbox, () => true);
    if (next === undefined) return;
    const { body, events } = next;
    if (isRefused) return events.forEach((event) => outbox.settle(event));
    isSending = true;
    for (const event of events) event.isSent = true;
    const response = await post(url, body);
    const seconds = secondsToWait(response);
    if (response === undefined || seconds !== undefined) {
      for (const event of events) event.isSent = false;
      pause.begin(seconds ?? 0);
    } else {
      const { status } = response;
      pause.end();
      isRefused = status === 401 || status === 403; // as others will be
      settle(events, status === 400 ? await problemsOf(response) : [], outbox);
    }
    isSending = false;
    void send();
  }

  return {
    send: () => void send(),
    beacon() {
      for (;;) {
        const next = isRefused ? undefined : nextRequest(key, outbox, ({ isSent }) => isSent !== true);
        if (next === undefined || !navigator.sendBeacon(url, next.body)) return;
        for (const event of next.events) event.isSent = true;
      }
    },
  };
}

/** Undefined where the service cannot be reached. */
async function post(url: string, body: string): Promise<Response | undefined> {
  try {
    const signal = attempt(() => AbortSignal.timeout(timeoutMs)) ?? null;
    return await fetch(url, { method: "POST", body, keepalive: true, credentials: "omit", signal });
  } catch {
    return undefined;
  }
}

/** How long the service wants a request that failed to wait; undefined for one that was answered. */
function secondsToWait(response: Response | undefined): number | undefined {
  if (response === undefined) return 0;
  const { status, headers } = response;
  return status === 429 || status >= 500 ? Number(headers.get("retry-after")) : undefined;
}

/** The time between a request that failed and the next; each is longer than the one before. */
function createPause(goOn: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  /** Begun without a time to come back. */
  let isCutOff = false;
  const resume = (): void => {
    clearTimeout(timer);
    timer = undefined;
    goOn();
  };
  addEventListener("online", () => isCutOff && resume());
  return {
    isRunning: () => timer !== undefined,
    /** @param seconds the minimum, as the service said */
    begin(seconds: number): void {
      isCutOff = seconds === 0;
      const backoff = Math.min(2 ** failures++, retrySecondsMax) * (0.5 + Math.random() / 2);
      const wait = Math.min(seconds || 0, retryAfterSecondsMax);
      const spread = wait > 0 ? wait + Math.max(wait, spreadSecondsMin) * Math.random() : 0;
      timer = setTimeout(resume, Math.max(backoff, spread) * 1_000);
    },
    /** A request was answered. */
    end(): void {
      failures = 0;
    },
  };
}

/**
 * Drops events that a problem names, but for a wrong clock: the service's counts instead. The others are sent again.
 */
function settle(events: readonly TrackedEvent[], problems: readonly Problem[], outbox: Outbox): void {
  let isNamed = false;
  for (const { path: [list, index, field] = [] } of problems) {
    const event = list === "events" ? events[Number(index)] : undefined;
    if (event === undefined) continue;
    isNamed = true;
    if (field === "occurredAt" && event.at !== undefined) event.at = undefined;
    else outbox.settle(event);
  }
  if (!isNamed) for (const event of events) outbox.settle(event);
}

async function problemsOf(response: Response): Promise<readonly Problem[]> {
  try {
    return ((await response.json()) as { errors?: readonly Problem[] }).errors ?? [];
  } catch {
    return []; // something else than the service answered
  }
}
