import * as fc from "fast-check";
import { rawNumbers, texts } from "./fuzz.values.js";

/**
 * JSON as it is written, not as it is read: members in any order and twice, numbers that no double holds, text that is no
 * JSON at all.
 */
export type Json =
  | { readonly raw: string }
  | { readonly items: readonly Json[] }
  | { readonly members: readonly (readonly [name: string, value: Json])[] };

/** A value as JSON; members that are undefined are left out. */
export function toJson(value: unknown): Json {
  if (Array.isArray(value)) return { items: value.map(toJson) };
  if (typeof value === "object" && value !== null) {
    const given = Object.entries(value).filter(([, member]) => member !== undefined);
    return { members: given.map(([name, member]) => [name, toJson(member)]) };
  }
  if (value === Infinity || value === -Infinity) return { raw: value > 0 ? "1e999" : "-1e999" };
  return { raw: JSON.stringify(value) ?? "null" };
}

export function writeJson(json: Json): string {
  if ("raw" in json) return json.raw;
  if ("items" in json) return `[${json.items.map(writeJson).join(",")}]`;
  return `{${json.members.map(([name, value]) => `${JSON.stringify(name)}:${writeJson(value)}`).join(",")}}`;
}

const keys = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "toJSON", "length"),
  fc.constantFrom("id", "sku", "title", "price", "images", "product", "products", "csvContent", "siteId", "storeId"),
  fc.constantFrom("query", "variables", "operationName", "extensions", "status", "type", "0", "", "$where", "then"),
  texts,
);

const nested = fc
  .tuple(fc.constantFrom(["[", "]"], ['{"a":', "}"], ['{"__proto__":', "}"]), fc.constantFrom(2, 30, 5_000))
  .map(([[open = "", close = ""], levels]): Json => ({ raw: `${open.repeat(levels)}1${close.repeat(levels)}` }));

/** Any value that may stand where another should. */
const anyJson: fc.Arbitrary<Json> = fc.oneof(
  { weight: 6, arbitrary: texts.map(toJson) },
  { weight: 3, arbitrary: rawNumbers.map((raw) => ({ raw })) },
  { weight: 3, arbitrary: fc.constantFrom("null", "true", "false", "[]", "{}", '""', '" "').map((raw) => ({ raw })) },
  { weight: 1, arbitrary: nested },
  { weight: 1, arbitrary: fc.array(texts, { maxLength: 4 }).map(toJson) },
  { weight: 1, arbitrary: fc.dictionary(keys, texts, { maxKeys: 3 }).map(toJson) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("NaN", "Infinity", "undefined", "'x'", "01", "+1", "").map((raw) => ({ raw })),
  },
);

type Change = (node: Json) => Json;

/** Something done to one node of a body; containers take what is meant for them and leave the rest as it is. */
const changes: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 4,
    arbitrary: anyJson.map(
      (value): Change =>
        () =>
          value,
    ),
  },
  {
    weight: 2,
    arbitrary: fc.nat().map(
      (at): Change =>
        (node) =>
          withoutPart(node, at),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.nat().map(
      (at): Change =>
        (node) =>
          withTwice(node, at),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(keys, anyJson).map(
      (added): Change =>
        (node) =>
          withMember(node, added),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(), anyJson).map(
      ([at, value]): Change =>
        (node) =>
          withRepeated(node, at, value),
    ),
  },
  { weight: 1, arbitrary: fc.constant((node: Json): Json => ({ items: [node] })) },
  {
    weight: 1,
    arbitrary: keys.map((name): Change => (node) => ({ members: [[name, node]] })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(), keys).map(
      ([at, name]): Change =>
        (node) =>
          withRenamed(node, at, name),
    ),
  },
);

/** A body with up to three changes, each at any of its nodes; often with none. */
export function mutated(body: fc.Arbitrary<unknown>): fc.Arbitrary<Json> {
  const several = fc.array(fc.tuple(fc.nat(), changes), { maxLength: 3 });
  return fc
    .tuple(body, several)
    .map(([value, list]) =>
      list.reduce((json, [where, change]) => changedAt(json, where % countOf(json), change), toJson(value)),
    );
}

function countOf(json: Json): number {
  return 1 + childrenOf(json).reduce((sum, child) => sum + countOf(child), 0);
}

function childrenOf(json: Json): readonly Json[] {
  if ("items" in json) return json.items;
  return "members" in json ? json.members.map(([, value]) => value) : [];
}

/** Changes the node with this number, counted in the order in which nodes are written. */
function changedAt(json: Json, where: number, change: Change): Json {
  if (where === 0) return change(json);
  let left = where - 1;
  const descend = (child: Json): Json => {
    const count = countOf(child);
    const isHere = left >= 0 && left < count;
    const result = isHere ? changedAt(child, left, change) : child;
    left -= count;
    return result;
  };
  if ("items" in json) return { items: json.items.map(descend) };
  if ("members" in json) return { members: json.members.map(([name, value]) => [name, descend(value)]) };
  return json;
}

function withoutPart(json: Json, at: number): Json {
  if ("items" in json) return { items: json.items.filter((_, index) => index !== at % json.items.length) };
  if ("members" in json) return { members: json.members.filter((_, index) => index !== at % json.members.length) };
  return json;
}

function withTwice(json: Json, at: number): Json {
  if ("items" in json)
    return { items: json.items.concat(json.items.slice(at % (json.items.length || 1), json.items.length)) };
  return json;
}

function withMember(json: Json, member: readonly [string, Json]): Json {
  return "members" in json ? { members: [...json.members, member] } : json;
}

/** A name that stands there already, with another value. */
function withRepeated(json: Json, at: number, value: Json): Json {
  const [name] = "members" in json ? (json.members[at % (json.members.length || 1)] ?? []) : [];
  return name === undefined ? json : withMember(json, [name, value]);
}

function withRenamed(json: Json, at: number, name: string): Json {
  if (!("members" in json)) return json;
  const renamed = at % (json.members.length || 1);
  return { members: json.members.map((member, index) => (index === renamed ? [name, member[1]] : member)) };
}

/** What may happen to the bytes of a body on its way; mostly nothing. */
export function damaged(text: fc.Arbitrary<string>): fc.Arbitrary<Buffer> {
  const damage: fc.Arbitrary<(bytes: Buffer) => Buffer> = fc.oneof(
    { weight: 12, arbitrary: fc.constant((bytes: Buffer) => bytes) },
    { weight: 1, arbitrary: fc.nat().map((at) => (bytes: Buffer) => bytes.subarray(0, at % (bytes.length + 1))) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 4 }))
        .map(([at, added]) => (bytes: Buffer) => {
          const place = at % (bytes.length + 1);
          return Buffer.concat([bytes.subarray(0, place), added, bytes.subarray(place)]);
        }),
    },
    { weight: 1, arbitrary: fc.constant((bytes: Buffer) => Buffer.concat([Buffer.from("\uFEFF"), bytes])) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((noise) => () => Buffer.from(noise)) },
    { weight: 1, arbitrary: fc.constant((bytes: Buffer) => Buffer.from(bytes.toString(), "utf16le")) },
  );
  return fc.tuple(text, damage).map(([written, apply]) => legible(apply(Buffer.from(written))));
}

/** Bytes that a report of fast-check shows as text. */
function legible(bytes: Buffer): Buffer {
  const shown = () => JSON.stringify(bytes.toString());
  return Object.assign(bytes, { [fc.toStringMethod]: shown });
}
