import { AppError, errorAt, type Path, Problems } from "../../errors.js";
import { mustBe } from "../../lib/mustBe.js";
import { clip } from "../../lib/text.js";
import {
  checkEvent,
  type EventConstraints,
  eventConstraints,
  isSale,
  type ShopperEventInput,
} from "../events/events.input.js";
import { readFields } from "../events/events.json.js";

export interface Collected {
  readonly show: string;
  readonly events: readonly ShopperEventInput[];
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
 * @param device of events without one
 * @throws {AppError} VALIDATION_FAILED naming each invalid event by its index, FORBIDDEN for an ORDER or a REFUND
 */
export function readCollected(sent: object, device: string): Collected {
  const { show, channel, viewer, events } = sent as Readonly<Record<string, unknown>>;
  const problems = new Problems();
  for (const name of Object.keys(sent)) {
    if (members.has(name)) continue;
    const message = `Unknown field "${clip(name)}".`;
    problems.add({ code: "UNKNOWN_FIELD", message, path: [clip(name)] });
  }
  if (typeof show !== "string") {
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
  const common = { channel, viewerId: viewer, device };
  const constraints = eventConstraints();
  const read = list.map((event, index) => readEvent(event, common, ["events", index], constraints, problems));
  problems.throwIfAny();
  return { show: show as string, events: read };
}

type Common = Readonly<Record<"channel" | "viewerId" | "device", unknown>>;

/** A valid event in place of a value that is not an object, so that the others are checked all the same. */
const placeholder = { id: "-", type: "ORDER", channel: "LIVE", amount: 0 };

function readEvent(
  event: unknown,
  common: Common,
  path: Path,
  constraints: EventConstraints,
  problems: Problems,
): ShopperEventInput {
  const isObject = typeof event === "object" && event !== null && !Array.isArray(event);
  if (!isObject) problems.add({ code: "INVALID_TYPE", message: mustBe("An event", "an object", event), path });
  else if ("type" in event && isSale(event.type)) {
    const message = `Pages may not report ${event.type === "ORDER" ? "an ORDER" : "a REFUND"}: a server does, with a token of the scope events:write.`;
    throw errorAt("FORBIDDEN", message, [...path, "type"]);
  }
  const read = isObject ? readFields(event, problems, path, common) : readFields(placeholder, problems);
  checkEvent(read, path, problems, constraints);
  return read;
}
