import { createClock } from "./clock.js";
import { createDelivery } from "./delivery.js";
import { attempt, idOf, newId, on, realIdOf } from "./guard.js";
import { log, startLog } from "./log.js";
import type { Target } from "./media.js";
import { createOutbox, type TrackedEvent } from "./outbox.js";
import { keyOf, storage } from "./storage.js";

/** What shops' pages may call. Wrong values are ignored: a page must not break for its figures. */
export interface Tracker {
  /** What the script's element does not say. */
  init(attributes: Attributes): void;
  /** Counts the seconds that a player really plays; the last one given counts. */
  watch(target: Target): void;
  /** Counts the seconds that the page is visible, without a video. */
  view(): void;
  /** Ends `watch` and `view`. */
  stop(): void;
  addToCart(productId: string): void;
  /** The shopper has placed an order, of which the shop's system tells the rest. */
  order(orderId: string | number): void;
  /** The id of the viewer, for the shop's system. */
  readonly viewer: () => string;
  /** Switches shows on a page that does not load again. */
  show(lsId: unknown, channel?: unknown): void;
  /** The shopper's id in the shop. */
  identify(viewerId: unknown): void;
  /** Whether something may be stored in the browser. */
  consent(isGiven: boolean): void;
  /** Writes what is counted to the console. */
  debug(): void;
}

/** Of the script's element, of the query of its address, or of `init`. */
export interface Attributes {
  key?: string;
  readonly show?: string;
  readonly channel?: string;
  readonly consent?: string;
  readonly watch?: string;
  readonly debug?: string;
}

const sendEveryMs = 10_000;

/** @param url of the endpoint */
export function createTracker(url: string, attributes: Attributes): Tracker {
  const clock = createClock(() => tell("VIEW"));
  const outbox = createOutbox();
  const delivery = createDelivery(url, attributes, outbox);
  const page = pageOf();
  let lsId: string | undefined;
  let channel: string;
  /** The shopper whom the shop knows. */
  let identified: string | undefined;
  let anonymous = newId();

  const viewer = (): string => identified ?? anonymous;
  const report = (type: TrackedEvent["type"], fields: Partial<TrackedEvent> = {}): void => {
    if (!(type === "CLAIM" ? fields.orderId : lsId)) return log("ignored", type);
    const event = { id: newId(), show: lsId, type, channel, viewerId: viewer(), at: Date.now(), ...page, ...fields };
    log("counted", event);
    outbox.add(event);
  };
  /** Without waiting for others. */
  const tell = (type: TrackedEvent["type"], fields?: Partial<TrackedEvent>): void => {
    report(type, fields);
    delivery.send();
  };
  const reportSeconds = (): void => {
    const seconds = clock.take();
    if (seconds > 0) report("VIEW", { seconds });
  };
  const show = (next: unknown, nextChannel?: unknown): void => {
    const id = idOf(next);
    if (!id) return log("ignored", next);
    const goesOn = clock.goOn();
    reportSeconds();
    [lsId, channel] = [id, channelOf(nextChannel)];
    if (goesOn) report("VIEW");
    delivery.send();
  };
  const consent = (isGiven: boolean): void => {
    if (!isGiven || optsOut()) {
      if (!isGiven) anonymous = newId();
      return outbox.forget();
    }
    outbox.keep();
    const key = keyOf("viewer");
    anonymous = storage((texts) => idOf(texts[key])) ?? anonymous;
    storage((texts) => (texts[key] = anonymous));
    delivery.send();
  };
  const init = (more: Attributes): void => {
    Object.assign(attributes, more);
    if ("debug" in attributes) startLog();
    if (!attributes.key) return;
    if (attributes.consent !== "required" || optsOut()) consent(true);
    show(attributes.show, attributes.channel);
    if (attributes.watch) clock.start(attributes.watch);
  };
  const leave = (): void => {
    reportSeconds();
    delivery.beacon();
  };
  on("pagehide", leave);
  on("visibilitychange", () => document.hidden && leave());
  setInterval(() => attempt(() => (reportSeconds(), delivery.send())), sendEveryMs);
  init({});

  return {
    init,
    show,
    consent,
    watch: (target) => (target ? clock.start(target) : log("ignored", target)),
    view: () => clock.start(),
    stop: () => clock.stop(),
    addToCart(productId) {
      if (typeof productId === "object") return log("ignored", productId);
      tell("ADD_TO_CART", { productId: idOf(productId) });
    },
    order: (orderId) => tell("CLAIM", { orderId: realIdOf(orderId) }),
    viewer,
    identify(viewerId) {
      identified = realIdOf(viewerId) ?? identified;
      log("viewer", identified);
    },
    debug: startLog,
  };
}

/** What the page says of its viewer. */
function pageOf(): Pick<TrackedEvent, "device" | "source"> {
  // The User-Agent of iPads is that of a desktop computer.
  const { userAgent, maxTouchPoints } = navigator;
  return {
    device: maxTouchPoints > 1 && /Macintosh/u.test(userAgent) ? "tablet" : undefined,
    // What a campaign's address says, or else the host of the page before; the service knows the shop's own.
    source: new URLSearchParams(location.search).get("utm_source") || document.referrer.split("/")[2],
  };
}

/** Global Privacy Control (https://www.w3.org/TR/gpc/). */
function optsOut(): boolean | undefined {
  return (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl;
}

/** With AUTO, the service decides by the time of the event. */
function channelOf(given: unknown): string {
  const name = String(given).toUpperCase();
  return /^(?:LIVE|REPLAY)$/u.test(name) ? name : "AUTO";
}
