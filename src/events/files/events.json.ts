import { dateTimeName, parseDateTime } from "../../lib/dateTime.js";
import { type Path, type Problem, Problems } from "../../errors.js";
import { notJson } from "../../lib/json/parseJson.js";
import { mustBe } from "../../lib/mustBe.js";
import { clip } from "../../lib/text.js";
import {
  channels,
  checkEvent,
  type EventConstraints,
  type OrderLineInput,
  type ShopperEventInput,
  shopperEventTypes,
} from "../events.input.js";
import { lineBytesMax, type TextLine } from "./ndjson.js";

/** Returns the value of a field, or what is expected. */
type Read<Value> = (value: unknown) => { readonly value: Value } | { readonly expected: string };

const faultMessages = {
  tooLong: `The line is longer than ${lineBytesMax} bytes.`,
  notUtf8: "The line is not valid UTF-8.",
} as const;

const fields: { readonly [F in keyof Required<ShopperEventInput>]: Read<NonNullable<ShopperEventInput[F]>> } = {
  id: text,
  type: oneOf(shopperEventTypes),
  channel: oneOf(channels),
  viewerId: text,
  device: text,
  source: text,
  seconds: number,
  amount: number,
  productId: text,
  occurredAt: (value) => {
    const moment = typeof value === "string" ? parseDateTime(value) : undefined;
    return moment === undefined ? { expected: dateTimeName } : { value: moment };
  },
  orderId: text,
  currency: text,
  lines: (value) =>
    Array.isArray(value) && value.every(isLine)
      ? { value }
      : { expected: "a list of objects with productId, quantity and amount" },
};
const fieldNames = Object.keys(fields) as readonly (keyof ShopperEventInput)[];
const requiredNames: ReadonlySet<string> = new Set(["id", "type", "channel"]);

/** Valid values for unreadable fields, so that the others are still checked. */
const placeholders: { readonly [F in keyof ShopperEventInput]?: Partial<ShopperEventInput> } = {
  id: { id: "-" },
  type: { type: "ORDER", amount: 0 },
  channel: { channel: "LIVE" },
  viewerId: { viewerId: "-" },
  amount: { amount: 0 },
};

/** Checks every rule too. @returns undefined where there are problems, which name the line */
export function readEventLine(
  { number: line, text: json, fault }: TextLine,
  problems: Problems,
  constraints: EventConstraints,
): ShopperEventInput | undefined {
  const found = new Problems();
  const event = fault === undefined ? readEvent(json, found, constraints) : undefined;
  if (fault !== undefined) {
    found.add({ code: fault === "tooLong" ? "TOO_LONG" : "MALFORMED", message: faultMessages[fault], path: [] });
  }
  if (found.total === 0) return event;
  problems.addAll({ list: found.list.map((problem) => ({ ...problem, line })), total: found.total });
  return undefined;
}

function readEvent(json: string, problems: Problems, constraints: EventConstraints): ShopperEventInput | undefined {
  const refuse = (code: Problem["code"], message: string) => problems.add({ code, message, path: [] });
  let object: unknown;
  try {
    object = JSON.parse(json);
  } catch {
    problems.addLazily(() => ({ code: "MALFORMED", message: notJson(json), path: [] })); // the parser's would quote it
    return undefined;
  }
  if (typeof object !== "object" || object === null || Array.isArray(object)) {
    refuse("INVALID_TYPE", "The line is not a JSON object.");
    return undefined;
  }
  const event = readFields(object, problems);
  checkEvent(event, [], problems, constraints);
  return event;
}

/**
 * Does not apply the rules of events. An unreadable field is a problem and gets a value that the rules accept.
 *
 * @param path of the event, for the problems
 * @param common values of fields that are missing or null
 */
export function readFields(
  object: object,
  problems: Problems,
  path: Path = [],
  common: Readonly<Partial<Record<string, unknown>>> = {},
): ShopperEventInput {
  reportUnknown(object, problems, path);
  const event: Record<string, unknown> = {};
  for (const name of fieldNames) {
    const value = (object as Partial<Record<string, unknown>>)[name] ?? common[name];
    const given = value !== undefined && value !== null;
    if (!given && !requiredNames.has(name)) continue;
    const result = given ? fields[name](value) : undefined;
    if (result !== undefined && "value" in result) {
      event[name] = result.value;
      continue;
    }
    Object.assign(event, placeholders[name]);
    const at = [...path, name];
    if (result === undefined) problems.add({ code: "REQUIRED", message: `${name} is required.`, path: at });
    else problems.add({ code: "INVALID_TYPE", message: mustBe(name, result.expected, value), path: at });
  }
  return event as unknown as ShopperEventInput; // each field was read by its reader, or has its placeholder
}

function reportUnknown(object: object, problems: Problems, path: Path): void {
  for (const name in object) {
    if (Object.hasOwn(fields, name)) continue;
    const message = `An event has no field ${JSON.stringify(clip(name))}.`;
    problems.add({ code: "UNKNOWN_FIELD", message, path: [...path, clip(name)] });
  }
}

const lineFields = { productId: "string", quantity: "number", amount: "number" } as const;

function isLine(value: unknown): value is OrderLineInput {
  if (typeof value !== "object" || value === null) return false;
  const given = Object.entries(value);
  const isRight = given.every(([name, field]) => typeof field === (lineFields as Record<string, string>)[name]);
  return isRight && given.length === Object.keys(lineFields).length;
}

function text(value: unknown) {
  return typeof value === "string" ? { value } : { expected: "a string" };
}

function number(value: unknown) {
  return typeof value === "number" ? { value } : { expected: "a number" };
}

function oneOf<Value extends string>(values: readonly Value[]): Read<Value> {
  const expected = `${values.slice(0, -1).join(", ")} or ${values.at(-1) ?? ""}`;
  return (given) => {
    const value = values.find((candidate) => candidate === given);
    return value === undefined ? { expected } : { value };
  };
}
