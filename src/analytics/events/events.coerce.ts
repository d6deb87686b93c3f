import { parseDateTime } from "../../lib/dateTime.js";
import { isGiven, type ShopperEventInput } from "./events.input.js";

/** Valid, in place of a batch that is taken without coercion; see execution/input/takenVariables.ts. */
export function placeholderEvent(placeholder: string): ShopperEventInput {
  return { id: placeholder, type: "VIEW", channel: "LIVE" };
}

/** An event as JSON has it, of a shape that has been checked. */
type SentEvent = Omit<ShopperEventInput, "occurredAt" | "lines"> & {
  readonly occurredAt?: string | null;
  /** As in GraphQL, a single line counts as a list of one. */
  readonly lines?: ShopperEventInput["lines"] | NonNullable<ShopperEventInput["lines"]>[number];
};

/** The batch that a placeholder stands for, as GraphQL would have coerced it; undefined for a batch of real events. */
export function uncoercedEvents(
  [first]: readonly ShopperEventInput[],
  originals: ReadonlyMap<string, object> | undefined,
): readonly ShopperEventInput[] | undefined {
  const original = first === undefined ? undefined : originals?.get(first.id);
  if (original === undefined || !("value" in original)) return undefined;
  const { value } = original;
  const events = (Array.isArray(value) ? value : [value]) as readonly SentEvent[]; // of a checked shape
  return events.map(coerced);
}

/** Most events have neither a time nor lines, and stay as they are: a copy would take as long as all checks. */
function coerced(event: SentEvent): ShopperEventInput {
  const { occurredAt, lines } = event;
  if (!hasText(occurredAt) && (!isGiven(lines) || isList(lines))) return event as ShopperEventInput; // of the same shape
  return {
    ...event,
    occurredAt: hasText(occurredAt) ? parseDateTime(occurredAt) : null,
    lines: !isGiven(lines) || isList(lines) ? lines : [lines],
  };
}

function hasText(value: unknown): value is string {
  return typeof value === "string";
}

function isList(lines: NonNullable<SentEvent["lines"]>): lines is NonNullable<ShopperEventInput["lines"]> {
  return Array.isArray(lines);
}
