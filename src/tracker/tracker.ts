import { createClock } from "./clock.js";
import { createDelivery } from "./delivery.js";
import { attempt, idOf, log, must, newId, on, realIdOf, startLog, warn } from "./guard.js";
import { selectorOf, type Target } from "./media.js";
import { createOutbox, type TrackedEvent } from "./outbox.js";
import type { Page } from "./page.js";

/** What shops' pages may call. */
export interface Tracker {
  /** Adds attributes that the script's element does not have. Without any, begins to count. */
  init(attributes?: Attributes): void;
  /** Counts the seconds that a player really plays. Replaces an earlier player. */
  watch(target: Target): void;
  /** Counts the seconds that the page is visible, without a video. */
  view(): void;
  /** Ends `watch` and `view`. */
  stop(): void;
  addToCart(productId: string): void;
  /** Says that the shopper has placed an order. The shop's system reports the rest. */
  order(orderId: string | number): void;
  /** Changes the show without loading the page again. */
  show(lsId: unknown, channel?: string): void;
  /** Sets the shopper's id in the shop. */
  identify(viewerId: unknown): void;
  /** Says whether we may store something in the browser. */
  consent(isGiven: boolean): void;
  /** Writes what is counted to the console. */
  debug(): void;
}

/** From the script's element, the query string of its address, or `init`. */
export interface Attributes {
  key?: string;
  readonly show?: string;
  readonly channel?: string;
  consent?: string;
  readonly watch?: string;
  readonly debug?: string;
  /** The address of the endpoint, if it is not next to the script. */
  readonly endpoint?: string;
}

/** https://www.w3.org/TR/gpc/ */
interface GlobalPrivacyControl {
  readonly globalPrivacyControl?: boolean;
}

const sendEveryMs = 10_000;

/**
 * Ignores its attributes until `init` is called without any. Its functions throw if they cannot use their arguments.
 *
 * @param url of the endpoint
 */
export function createTracker(url: string, attributes: Attributes, page: Page): Tracker {
  const clock = createClock(
    () => tell("VIEW"),
    () => `${attributes.key} ${lsId}`,
    page.clocks,
  );
  const outbox = createOutbox();
  const delivery = createDelivery(url, attributes, outbox);
  const { globalPrivacyControl } = navigator as GlobalPrivacyControl;
  let lsId: string | undefined;
  let channel: string;
  let hasBegun = false;

  const report = (type: TrackedEvent["type"], fields: Partial<TrackedEvent> = {}): void => {
    if (!(fields.orderId ?? lsId)) return log("ignored", type);
    const event = { id: newId(), show: lsId, type, channel, at: Date.now(), ...page.sender(), ...fields };
    log("counted", event);
    outbox.add(event);
  };
  /** Reports an event, and sends it at once. */
  const tell = (type: TrackedEvent["type"], fields?: Partial<TrackedEvent>): void => {
    report(type, fields);
    delivery.send();
  };
  const reportSeconds = (): void => {
    const seconds = clock.take();
    if (seconds) report("VIEW", { seconds });
  };
  const show = (next: unknown, nextChannel?: string): void => {
    const id = must(idOf(next));
    const newChannel = channelOf(nextChannel);
    const goesOn = clock.goOn();
    reportSeconds();
    lsId = id;
    channel = newChannel;
    if (goesOn) report("VIEW");
    delivery.send();
  };
  const consent = (isGiven: boolean): void => {
    must(typeof isGiven === "boolean");
    attributes.consent = "required"; // so that a later `init` does not overrule the answer
    const isKept = isGiven && !globalPrivacyControl;
    page.keep(isKept);
    outbox.keep(isKept);
    delivery.send();
  };
  const watch = (target: Target): void => clock.start(typeof target === "string" ? selectorOf(target) : target);
  const init = (more?: Attributes): void => {
    Object.assign(attributes, more);
    if ("debug" in attributes) startLog();
    hasBegun ||= !more;
    if (!hasBegun) return;
    const { consent: needed, show: id, watch: target } = attributes;
    must(attributes.key);
    if (needed === undefined || globalPrivacyControl) consent(true);
    if (needed && needed !== "required") warn("consent", needed);
    if (id) attempt(() => show(id, attributes.channel), "show", id);
    if (target) attempt(() => watch(target), "watch", target);
  };
  const leave = (): void => {
    reportSeconds();
    delivery.beacon();
  };
  on("pagehide", leave);
  on("visibilitychange", () => document.hidden && leave());
  setInterval(() => attempt(() => (reportSeconds(), delivery.send())), sendEveryMs);

  return {
    init,
    show,
    consent,
    watch: (target) => watch(must(target)),
    view: () => clock.start(),
    stop: () => clock.stop(),
    addToCart(given) {
      must(typeof given !== "object");
      const productId = idOf(given);
      if (!productId) warn("product", given);
      tell("ADD_TO_CART", { productId });
    },
    order: (given) => tell("CLAIM", { orderId: must(realIdOf(given)), formerId: page.take() }),
    identify: (given) => page.identify(must(realIdOf(given))),
    debug: startLog,
  };
}

/** With AUTO, the service decides by the time of the event. */
function channelOf(given?: string): string {
  const name = /^(?:live|replay|auto)$/iu.exec(given || "auto");
  if (name) return name[0].toUpperCase();
  warn("channel", given);
  return "AUTO";
}
