import { parseDateTime } from "../../lib/dateTime.js";
import type { ShopperEventInput } from "./events.input.js";

/** Valid, in place of a batch that is taken without coercion; see execution/takenVariables.ts. */
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

function coerced({ occurredAt, lines, ...event }: SentEvent): ShopperEventInput {
  return {
    ...event,
    occurredAt: typeof occurredAt === "string" ? parseDateTime(occurredAt) : null,
    lines: lines === undefined || lines === null || isList(lines) ? lines : [lines],
  };
}

function isList(lines: NonNullable<SentEvent["lines"]>): lines is NonNullable<ShopperEventInput["lines"]> {
  return Array.isArray(lines);
}
