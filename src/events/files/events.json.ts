import * as z from "zod";
import { dateTimeName } from "../../lib/dateTime.js";
import { type Path, Problems } from "../../errors.js";
import { addIssues, dateTimeSchema, numberSchema, oneOf } from "../../lib/json/jsonSchemas.js";
import { isObject } from "../../lib/json/parseJson.js";
import {
  channels,
  checkEvent,
  type EventConstraints,
  type ShopperEventInput,
  shopperEventTypes,
} from "../events.input.js";
import { isGiven } from "../../shows/liveStream.input.js";
import { type TextLine, valueOf } from "./ndjson.js";

const text = z.string("a string");
const number = numberSchema("a number");
const lines = z.array(z.strictObject({ productId: text, quantity: number, amount: number }));

/** The messages are what problems say that a value must be. */
const shape = {
  id: text,
  type: oneOf(shopperEventTypes),
  channel: oneOf(channels),
  viewerId: text.nullish(),
  device: text.nullish(),
  source: text.nullish(),
  seconds: number.nullish(),
  amount: number.nullish(),
  productId: text.nullish(),
  occurredAt: dateTimeSchema(dateTimeName).nullish(),
  orderId: text.nullish(),
  currency: text.nullish(),
  lines: z
    .custom<z.output<typeof lines>>(
      (value) => lines.validate(value),
      "a list of objects with productId, quantity and amount",
    )
    .nullish(),
} satisfies Readonly<Record<keyof ShopperEventInput, z.ZodType>>;
/** Compiled, since pages send thousands a second: it takes two thirds of the time. */
const event = z.compile(z.strictObject(shape));
const knownFields = z.object(shape);

/** Valid values for unreadable fields, so that the others are still checked. */
const placeholders: Readonly<Record<string, Partial<ShopperEventInput>>> = {
  id: { id: "-" },
  type: { type: "ORDER", amount: 0 },
  channel: { channel: "LIVE" },
  viewerId: { viewerId: "-" },
  amount: { amount: 0 },
};

/** Checks every rule too. @returns undefined where there are problems, which name the line */
export function readEventLine(
  line: TextLine,
  problems: Problems,
  constraints: EventConstraints,
): ShopperEventInput | undefined {
  const found = new Problems();
  const value = valueOf(line, found);
  const read = isObject(value) ? readFields(value, found) : undefined;
  if (read !== undefined) checkEvent(read, [], found, constraints);
  else if (found.total === 0) found.add({ code: "INVALID_TYPE", message: "The line is not a JSON object.", path: [] });
  if (found.total === 0) return read;
  problems.addAll({ list: found.list.map((problem) => ({ ...problem, line: line.number })), total: found.total });
  return undefined;
}

/**
 * Does not apply the rules of events. An unreadable field is a problem and gets a value that the rules accept.
 *
 * @param path of the event, for the problems
 */
export function readFields(given: object, problems: Problems, path: Path = []): ShopperEventInput {
  const { data, error } = event.safeParse(given, { reportInput: true });
  if (error === undefined) return data;
  addIssues(error, "An event", problems, { path });
  const faulty = error.issues.map((issue) => String(issue.path[0]));
  const readable = Object.entries(given).filter(([name, value]) => isGiven(value) && !faulty.includes(name));
  const valid = Object.assign({}, ...faulty.map((name) => placeholders[name]));
  return knownFields.parse({ ...valid, ...Object.fromEntries(readable) });
}
