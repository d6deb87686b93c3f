import { attempt } from "./guard.js";
import { read, remove, stored, write } from "./storage.js";

/** An event with all that the service needs to count it. */
export interface TrackedEvent {
  readonly id: string;
  readonly show: string;
  readonly type: "VIEW" | "ADD_TO_CART";
  readonly channel: string;
  readonly viewerId: string;
  readonly seconds?: number;
  readonly productId?: string | undefined;
  /** Milliseconds since 1970 by the browser's clock; undefined if that proved wrong. */
  at?: number | undefined;
  /** Under way in a request, or left to a beacon. */
  isSent?: boolean;
}

/** Events that have not arrived yet. */
export interface Outbox {
  add(event: TrackedEvent): void;
  /** Events of one show, as many as a request may have. */
  next(isWanted: (event: TrackedEvent) => boolean): readonly TrackedEvent[];
  /** It has arrived, or never will. */
  settle(event: TrackedEvent): void;
  /** Keeps events in the browser until they have arrived, and takes over those of earlier pages. */
  keep(): void;
  /** Stops keeping events in the browser, and removes those that are. */
  forget(): void;
}

const eventsMax = 200;
const ageMsMax = 86_400_000;
const batchEventsMax = 100;

export function createOutbox(): Outbox {
  const waiting = new Map<string, TrackedEvent>();
  let isKeeping = false;

  const settle = ({ id }: TrackedEvent): void => {
    waiting.delete(id);
    remove(id);
  };
  const add = (event: TrackedEvent): void => {
    waiting.set(event.id, event);
    if (isKeeping && stored().length < eventsMax) write(event.id, JSON.stringify(event));
    [...waiting.values()].slice(0, -eventsMax).forEach(settle); // the oldest
  };
  const adopt = (name: string): void => {
    const event = attempt(() => JSON.parse(read(name) ?? "") as TrackedEvent);
    if (event?.id !== name) return; // the viewer's id is stored, too
    if (Date.now() - Number(event.at) < ageMsMax) waiting.set(name, event);
    else remove(name);
  };
  return {
    add,
    settle,
    next(isWanted) {
      const wanted = [...waiting.values()].filter(isWanted);
      return wanted.filter(({ show }) => show === wanted[0]?.show).slice(0, batchEventsMax);
    },
    keep() {
      isKeeping = true;
      const own = [...waiting.values()];
      stored().forEach(adopt);
      own.forEach(add);
    },
    forget() {
      isKeeping = false;
      stored().forEach(remove);
    },
  };
}
