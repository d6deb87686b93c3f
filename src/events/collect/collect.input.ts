import { isOwnHost } from "../../stores/publicKey.js";
import { AppError, errorAt, type Path, Problems } from "../../errors.js";
import { isObject } from "../../lib/json/parseJson.js";
import { mustBe } from "../../lib/mustBe.js";
import { clip, nameCharactersMax, textFault } from "../../lib/text.js";
import {
  checkEvent,
  checkIdentifies,
  eventConstraints,
  type EventConstraints,
  identifiesNobody,
  isSale,
  type Report,
  type ShopperEventInput,
} from "../events.input.js";
import { checkText } from "../../shows/liveStream.input.js";
import { readFields } from "../files/events.json.js";

export interface Collected {
  readonly show: string;
  readonly events: readonly ShopperEventInput[];
  /** The viewers who placed orders, by order. */
  readonly claims: ReadonlyMap<string, string>;
  /** Earlier ids of these viewers, where they had another one, by order. */
  readonly formers: ReadonlyMap<string, string>;
}

/** What a request says of its page. */
interface Sender {
  /** Of events without one. */
  readonly device: string;
  /** Of the shop: those of its key, and the page's as the browser names it in a header. */
  readonly ownOrigins: readonly string[];
}

const eventsMax = 100;
const members: ReadonlySet<string> = new Set(["key", "show", "channel", "viewer", "events"]);

/** @throws {AppError} BAD_REQUEST for what is no JSON object, UNAUTHENTICATED without a key */
export function readKey(body: unknown): { readonly key: string; readonly sent: object } {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new AppError("BAD_REQUEST", mustBe("The body", `a JSON object, such as {"key": "vp_…"}`, body));
  }
  const { key } = body as { readonly key?: unknown };
  if (typeof key !== "string") throw new AppError("UNAUTHENTICATED", "The public key is missing.");
  return { key, sent: body };
}

/**
 * The events, each with the values that the body gives for all.
 *
 * @throws {AppError} VALIDATION_FAILED naming each invalid event by its index, FORBIDDEN for an ORDER or a REFUND
 */
export function readCollected(sent: object, { device, ownOrigins }: Sender): Collected {
  const { show, channel, viewer, events } = sent as Readonly<Record<string, unknown>>;
  const problems = new Problems();
  for (const name of Object.keys(sent)) {
    if (members.has(name)) continue;
    const message = `Unknown field "${clip(name)}".`;
    problems.add({ code: "UNKNOWN_FIELD", message, path: [clip(name)] });
  }
  if (typeof show !== "string" && !(Array.isArray(events) && events.length > 0 && events.every(isClaim))) {
    problems.add({ code: "INVALID_TYPE", message: mustBe("show", "the id of a live stream", show), path: ["show"] });
  }
  if (!Array.isArray(events)) {
    problems.add({ code: "INVALID_TYPE", message: mustBe("events", "an array of events", events), path: ["events"] });
  }
  problems.throwIfAny();
  const list = events as readonly unknown[];
  if (list.length > eventsMax) {
    throw errorAt("VALIDATION_FAILED", `A request may have at most ${eventsMax} events.`, ["events"]);
  }
  const common = { channel, viewerId: viewer, device, source: "direct" };
  const constraints = eventConstraints();
  const [claims, formers] = [new Map<string, string>(), new Map<string, string>()];
  const read = list.flatMap((event, index) => {
    const path = ["events", index];
    if (isClaim(event)) readClaim(event, viewer, path, problems, { claims, formers });
    else if (!isObject(event)) {
      problems.add({ code: "INVALID_TYPE", message: mustBe("An event", "an object", event), path });
    } else {
      complete(event, common, ownOrigins);
      return [readEvent(event, path, constraints, problems)];
    }
    return [];
  });
  problems.throwIfAny();
  return { show: typeof show === "string" ? show : "", events: read, claims, formers };
}

interface Claim {
  readonly type: "CLAIM";
  readonly orderId?: unknown;
  readonly viewerId?: unknown;
  readonly formerId?: unknown;
}

/** A page says that its viewer placed an order. That counts for nothing by itself: the shop tells what was paid. */
function isClaim(event: unknown): event is Claim {
  return typeof event === "object" && event !== null && "type" in event && event.type === "CLAIM";
}

function readClaim(
  { orderId, viewerId: own, formerId: former }: Claim,
  viewer: unknown,
  path: Path,
  problems: Problems,
  { claims, formers }: Readonly<Record<"claims" | "formers", Map<string, string>>>,
): void {
  const [viewerId, formerId] = [own ?? viewer, former ?? undefined];
  const report: Report = (field, code, message) => problems.add({ code, message, path: [...path, field] });
  if (typeof orderId !== "string") return report("orderId", "REQUIRED", "CLAIM needs an orderId, a text.");
  if (typeof viewerId !== "string") return report("viewerId", "REQUIRED", "CLAIM needs a viewerId, a text.");
  checkText(orderId, nameCharactersMax, path, "orderId", problems);
  checkText(viewerId, nameCharactersMax, path, "viewerId", problems);
  checkIdentifies(viewerId, report);
  if (formerId !== undefined) {
    if (typeof formerId !== "string") return report("formerId", "INVALID_TYPE", mustBe("formerId", "a text", formerId));
    checkText(formerId, nameCharactersMax, path, "formerId", problems);
  }
  if (claims.has(orderId)) return;
  claims.set(orderId, viewerId);
  if (formerId !== undefined && formerId !== viewerId && !identifiesNobody(formerId)) formers.set(orderId, formerId);
}

type Common = Readonly<Record<"channel" | "viewerId" | "device" | "source", unknown>>;

/**
 * Completes an event in place: a copy would take longer than all checks. A page that came from another page of its shop is no source,
 * and what is wrong in an address must not cost the event.
 */
function complete(event: Record<string, unknown>, common: Common, ownOrigins: readonly string[]): void {
  const { source } = event;
  if (typeof source === "string" && (textFault(source, "source", 255) !== undefined || isOwnHost(ownOrigins, source)))
    event["source"] = null;
  for (const [name, value] of Object.entries(common)) event[name] ??= value;
}

function readEvent(event: object, path: Path, constraints: EventConstraints, problems: Problems): ShopperEventInput {
  if ("type" in event && isSale(event.type)) {
    const message = `Pages may not report ${event.type === "ORDER" ? "an ORDER" : "a REFUND"}: a server does, with a token of the scope events:write.`;
    throw errorAt("FORBIDDEN", message, [...path, "type"]);
  }
  const read = readFields(event, problems, path);
  checkEvent(read, path, problems, constraints);
  return read;
}
