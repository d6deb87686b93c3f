import { identifiesNobody } from "../events/events.rules.js";
import { canBeKey } from "../../lib/text.js";
import { exact } from "../orders/units.js";

/** A member of a payload that is not what the shop system documents. */
export class PayloadError extends Error {}

export type Json = Readonly<Record<string, unknown>>;

/** Parses a payload, with long whole numbers as texts: Shopify's ids exceed what JavaScript's numbers can hold. */
export function parsePayload(body: Buffer): Json {
  const text = withLongNumbersAsTexts(body.toString("utf8"));
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new PayloadError("The body is not JSON.");
  }
  return objectOf(parsed, "The body");
}

const [quote, backslash] = ['"', "\\"] as const;
/** Numbers of so many digits may exceed 2^53. */
const longDigits = 16;

function withLongNumbersAsTexts(json: string): string {
  const pieces: string[] = [];
  let [from, at] = [0, 0];
  while (at < json.length) {
    const start = at;
    const character = json.charAt(at);
    at += 1;
    if (character === quote) {
      while (at < json.length && json.charAt(at) !== quote) at += json.charAt(at) === backslash ? 2 : 1;
      at += 1;
    } else if (isOfNumber(character)) {
      while (isOfNumber(json.charAt(at))) at += 1;
      const number = json.slice(start, at);
      if (number.length < longDigits || !/^-?\d+$/u.test(number)) continue;
      pieces.push(json.slice(from, start), quote, number, quote);
      from = at;
    }
  }
  return pieces.length === 0 ? json : pieces.join("") + json.slice(from);
}

function isOfNumber(character: string): boolean {
  return character !== "" && "0123456789-+.eE".includes(character);
}

export function objectOf(value: unknown, name: string): Json {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  throw new PayloadError(`${name} is not an object.`);
}

/** A list of objects; empty where there is none. */
export function listOf(parent: Json, name: string): readonly Json[] {
  const value = parent[name] ?? [];
  if (!Array.isArray(value)) throw new PayloadError(`${name} is not a list.`);
  return value.map((item) => objectOf(item, `An item of ${name}`));
}

/** A text, or a number as a text; undefined where there is none. */
export function textOf(parent: Json, name: string): string | undefined {
  const value = parent[name];
  if (value === null || value === undefined || value === "") return undefined;
  if (typeof value === "string" || typeof value === "number") return String(value);
  throw new PayloadError(`${name} is not a text.`);
}

/** The first of these members that can be stored as a name or an id; undefined where there is none. */
export function keyOf(parent: Json, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = textOf(parent, name);
    if (text !== undefined && canBeKey(text)) return text;
  }
  return undefined;
}

export function idOf(parent: Json, name: string): string {
  const id = textOf(parent, name);
  if (id === undefined) throw new PayloadError(`${name} is missing.`);
  if (!canBeKey(id)) throw new PayloadError(`${name} is not an id.`);
  return id;
}

const amountMax = 1e9;

/** An amount of money, which both systems write as a text; undefined where there is none. */
export function amountOf(parent: Json, name: string): number | undefined {
  const text = textOf(parent, name);
  if (text === undefined) return undefined;
  const amount = Number(text);
  if (Number.isFinite(amount) && Math.abs(amount) <= amountMax) return exact(amount);
  throw new PayloadError(`${name} is not an amount.`);
}

const zone = /(?:Z|[+-]\d{2}:?\d{2})$/iu;

/** For clocks that differ, and times without their zone. */
const fromNowMs = 86_400_000;

/** A time since 1970; one without a time zone is of UTC. Undefined where there is none. */
export function timeOf(parent: Json, name: string): Date | undefined {
  const text = textOf(parent, name);
  if (text === undefined) return undefined;
  const time = new Date(zone.test(text) ? text : `${text}Z`);
  if (!(time.getTime() >= 0)) throw new PayloadError(`${name} is not a time.`);
  if (time.getTime() > Date.now() + fromNowMs) throw new PayloadError(`${name} is more than a day from now.`);
  return time;
}

export function quantityOf(parent: Json): number {
  const quantity = Number(parent["quantity"] ?? 1);
  return Number.isInteger(quantity) && quantity > 0 ? Math.min(quantity, 1_000_000) : 1;
}

/** The id of a viewer; null for a text that is none. */
export function viewerIdOf(text: string | undefined): string | null {
  return text === undefined || !canBeKey(text) || identifiesNobody(text) ? null : text;
}
