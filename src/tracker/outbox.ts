import { plain } from "./guard.js";
import { keyOf, storage } from "./storage.js";

/** An event with everything that the service needs to count it. */
export interface TrackedEvent {
  readonly id: string;
  readonly show: string | undefined;
  readonly type: "VIEW" | "ADD_TO_CART" | "CLAIM";
  readonly channel: string;
  readonly viewerId: string;
  readonly seconds?: number;
  readonly productId?: string | undefined;
  readonly orderId?: string | undefined;
  /** For a CLAIM: an earlier id of the same shopper. */
  readonly formerId?: string | undefined;
  /** The device, if the browser's User-Agent hides it. */
  readonly device?: string | undefined;
  /** Where the viewer came from: a host, which may be another one of the shop, or the name of a campaign. */
  readonly source?: string | undefined;
  /** Milliseconds since 1970 by the browser's clock; undefined if that proved wrong. */
  at?: number | undefined;
  /** Sent by a request that is under way, or by a beacon. */
  isSent?: boolean;
}

/** Events that have not arrived yet. */
export interface Outbox {
  add(event: TrackedEvent): void;
  /** Events of one show, as many as a request may have. @param isBeacon omits events that are under way */
  next(isBeacon: boolean): readonly TrackedEvent[];
  /** Removes an event that has arrived, or never will. */
  readonly settle: (event: TrackedEvent) => void;
  /** Puts events that could not be delivered behind all others. @param seconds during which we send none of their show */
  postpone(events: readonly TrackedEvent[], seconds: number): void;
  /** If allowed, stores events in the browser until they have arrived, and adopts those of earlier pages. Otherwise removes them. */
  keep(isAllowed: boolean): void;
}

const eventsMax = 200;
const ageMsMax = 86_400_000;
const batchEventsMax = 100;

/** The keys of stored events. */
const stored = (): readonly string[] =>
  storage((texts) => Object.keys(texts).filter((key) => key.startsWith(keyOf("")))) ?? [];
const remove = (key: string): void => {
  storage((texts) => delete texts[key]);
};

export function createOutbox(): Outbox {
  const waiting = new Map<string, TrackedEvent>();
  /** Shows that have not started, and the time before which we do not ask again. */
  const early = new Map<string | undefined, number>();
  let isKeeping = false;

  const settle = ({ id }: TrackedEvent): void => {
    waiting.delete(id);
    remove(keyOf(id));
  };
  const add = (event: TrackedEvent): void => {
    waiting.set(event.id, event);
    if (isKeeping && stored().length < eventsMax)
      storage((texts) => (texts[keyOf(event.id)] = JSON.stringify(plain(event))));
    [...waiting.values()].slice(0, -eventsMax).forEach(settle); // the oldest
  };
  const adopt = (key: string): void => {
    const event = storage((texts) => JSON.parse(texts[key] as string) as TrackedEvent);
    if (!event || keyOf(event.id) !== key) return; // another value, such as the viewer's id
    if (Date.now() - (event.at as number) < ageMsMax) waiting.set(event.id, event);
    else remove(key);
  };
  return {
    add,
    settle,
    postpone(events, seconds) {
      for (const event of events) {
        event.isSent = false;
        early.set(event.show, Date.now() + seconds * 1_000);
        if (waiting.delete(event.id)) waiting.set(event.id, event);
      }
    },
    next(isBeacon) {
      const wanted = [...waiting.values()].filter(({ isSent, show }) =>
        isBeacon ? !isSent : !((early.get(show) as number) > Date.now()),
      );
      return wanted.filter(({ show }) => show === wanted[0]?.show).slice(0, batchEventsMax);
    },
    keep(isAllowed) {
      isKeeping = isAllowed;
      const own = [...waiting.values()];
      stored().forEach(isAllowed ? adopt : remove);
      own.forEach(add);
    },
  };
}
