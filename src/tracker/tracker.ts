import { createClock } from "./clock.js";
import { createDelivery, type Delivery } from "./delivery.js";
import { attempt, idOf, newId } from "./guard.js";
import { createOutbox, type Outbox, type TrackedEvent } from "./outbox.js";
import { read, write } from "./storage.js";

/** What shops' pages may call. Wrong values are ignored: a page must not break for its figures. */
export interface Tracker {
  /** Counts the seconds that a video really plays; the last one given counts. */
  watch(element: HTMLMediaElement): void;
  /** Counts the seconds that the page is visible, without a video. */
  view(): void;
  addToCart(productId: string): void;
  /** Switches shows on a page that does not load again. */
  show(lsId: string, channel?: string): void;
  /** The shopper's id in the shop. */
  identify(viewerId: string): void;
  /** Whether something may be stored in the browser. */
  consent(isGiven: boolean): void;
}

interface Attributes {
  readonly key?: string;
  readonly show?: string;
  readonly channel?: string;
  readonly consent?: string;
}

const sendEveryMs = 10_000;

/** @param url of `/collect/v1` */
export function createTracker(url: string, attributes: Attributes): Tracker {
  const clock = createClock();
  const outbox = createOutbox();
  const delivery = createDelivery(url, attributes.key ?? "", outbox);
  const visit = createVisit(attributes, outbox);
  const reportSeconds = (): void => {
    const seconds = clock.take();
    if (seconds > 0) visit.report("VIEW", { seconds });
  };
  const startClock = (element?: HTMLMediaElement): void => {
    clock.start(element);
    visit.report("VIEW");
    delivery.send();
  };
  const consent = (isGiven: boolean): void => {
    if (visit.consent(isGiven)) delivery.send();
  };
  reportWhen(reportSeconds, delivery);
  if (attributes.consent !== "required" || optsOut()) consent(true);
  return {
    watch: (element) => element instanceof HTMLMediaElement && startClock(element),
    view: () => startClock(),
    addToCart(productId) {
      visit.report("ADD_TO_CART", { productId: idOf(productId) });
      delivery.send();
    },
    show(lsId, channel) {
      reportSeconds();
      visit.enter(lsId, channel);
      if (clock.isStarted()) visit.report("VIEW");
      delivery.send();
    },
    identify: (viewerId) => visit.identify(viewerId),
    consent,
  };
}

/** Reports the seconds now and then, and when the page is left. */
function reportWhen(reportSeconds: () => void, delivery: Delivery): void {
  const leave = (): void => {
    reportSeconds();
    delivery.beacon();
  };
  on(window, "pagehide", leave);
  on(document, "visibilitychange", () => document.visibilityState === "hidden" && leave());
  setInterval(() => attempt(() => (reportSeconds(), delivery.send())), sendEveryMs);
}

/** The show that is watched, and who watches: the shopper whom the shop knows, or else an anonymous one. */
function createVisit(attributes: Attributes, outbox: Outbox) {
  let show = idOf(attributes.show);
  let channel = channelOf(attributes.channel);
  let identified: string | undefined;
  let anonymous = newId();
  return {
    enter(lsId: unknown, nextChannel: unknown): void {
      [show, channel] = [idOf(lsId), channelOf(nextChannel)];
    },
    identify(viewerId: unknown): void {
      identified = idOf(viewerId);
    },
    report(type: TrackedEvent["type"], fields: Partial<TrackedEvent> = {}): void {
      if (show === undefined) return;
      const viewerId = identified ?? anonymous;
      outbox.add({ id: newId(), show, type, channel, viewerId, at: Date.now(), ...fields });
    },
    /** @returns whether something may be stored in the browser: then the anonymous shopper is, and events are */
    consent(isGiven: boolean): boolean {
      if (!isGiven || optsOut()) {
        anonymous = isGiven ? anonymous : newId();
        outbox.forget();
        return false;
      }
      outbox.keep();
      anonymous = idOf(read("viewer")) ?? anonymous;
      write("viewer", anonymous);
      return true;
    },
  };
}

/** Global Privacy Control (https://www.w3.org/TR/gpc/). */
function optsOut(): boolean {
  return (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl === true;
}

function channelOf(text: unknown): string {
  return text === "REPLAY" ? text : "LIVE";
}

function on(target: EventTarget, name: string, work: () => void): void {
  target.addEventListener(name, () => attempt(work));
}
