import { isPlaceholderId } from "../../events/events.input.js";
import { parseDateTime } from "../../lib/dateTime.js";
import { canBeKey } from "../../lib/text.js";
import { isName } from "../state/order.rules.js";
import { exact } from "../../lib/money.js";

/** A member of a payload that is not what the shop system documents. */
export class PayloadError extends Error {}

export type Json = Readonly<Record<string, unknown>>;

/** Parses a payload, with long whole numbers as texts: Shopify's ids exceed what JavaScript's numbers can hold. */
export function parsePayload(body: Buffer | string): Json {
  const text = withLongNumbersAsTexts(body.toString());
  if (/^\uFEFF?\s*</u.test(text)) throw new PayloadError("The body is XML: choose JSON as the format of the webhook.");
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

/** A list of objects, which PHP may write as an object of them; empty where there is none. */
export function listOf(parent: Json, name: string): readonly Json[] {
  const value = parent[name] ?? [];
  if (typeof value !== "object") throw new PayloadError(`${name} is not a list.`);
  return Object.values(value).map((item) => objectOf(item, `An item of ${name}`));
}

/** A text, or a number as a text; undefined where there is none, for which PHP may write false. */
export function textMember(parent: Json, name: string): string | undefined {
  const value = parent[name];
  if (value === null || value === undefined || value === "" || value === false) return undefined;
  if (typeof value === "string" || typeof value === "number") return String(value);
  throw new PayloadError(`${name} is not a text.`);
}

/**
 * Those of these members that name a product; the last one is its name, for products without ids. They bear no money: what cannot be
 * read is left out, and noted.
 */
export function namesOf(
  line: Json,
  ids: readonly string[],
  name: string,
  note: (fault: string) => void,
): readonly string[] {
  const given = (member: string) => {
    const value = line[member] ?? "";
    if (typeof value === "object" || value === true) {
      note(`${member} of a line is not a text: the line is counted without it.`);
      return [];
    }
    const text = textMember(line, member)?.trim() ?? "";
    return text !== "" && canBeKey(text) ? [text] : [];
  };
  const found = ids.flatMap(given).filter(isName);
  return found.length > 0 ? found : given(name);
}

export function idOf(parent: Json, name: string): string {
  const id = textMember(parent, name);
  if (id === undefined) throw new PayloadError(`${name} is missing.`);
  if (!canBeKey(id)) throw new PayloadError(`${name} is not an id.`);
  return id;
}

const amountMax = 1e9;
/** Blanks, and digits after 0x, would be numbers too. */
const plainNumber = /^[\d.e+-]+$/iu;

/** An amount of money, which both systems write as a text; undefined where there is none. */
export function amountOf(parent: Json, name: string): number | undefined {
  const text = textMember(parent, name);
  if (text === undefined) return undefined;
  const amount = plainNumber.test(text) ? Number(text) : Number.NaN;
  if (Math.abs(amount) <= amountMax) return exact(amount);
  throw new PayloadError(`${name} is not an amount.`);
}

const zone = /(?:Z|[+-]\d{2}:\d{2})$/iu;

/** For clocks that differ, and times without their zone. */
const fromNowMs = 86_400_000;

/** A time since 1970; one without a time zone is of UTC. Undefined where there is none. */
export function timeOf(parent: Json, name: string): Date | undefined {
  const text = textMember(parent, name);
  if (text === undefined) return undefined;
  const shown = text.replace(/([+-]\d{2})(\d{2})$/u, "$1:$2");
  const time = parseDateTime(zone.test(shown) ? shown : `${shown}Z`);
  if (time === undefined || time.getTime() < 0) throw new PayloadError(`${name} is not a time.`);
  if (time.getTime() > Date.now() + fromNowMs) throw new PayloadError(`${name} is more than a day from now.`);
  return time;
}

/** How many; 1 where nothing says it, and for a part of one. */
export function quantityOf(parent: Json, name = "quantity"): number {
  const text = textMember(parent, name) ?? "1";
  const quantity = plainNumber.test(text) ? Number(text) : Number.NaN;
  if (!(quantity >= 0)) throw new PayloadError(`${name} is not a number of pieces.`);
  return Number.isInteger(quantity) ? Math.min(quantity, 1_000_000) : 1;
}

/** The name under which a theme gives the id of the viewer along with an order. */
const viewerAttribute = "vitrine_viewer";

/** Whether an attribute has the viewer: in any case, and with what checkouts put before it (`_wc_other/shop/vitrine_viewer`). */
export function isViewerName(name: string): boolean {
  return name.split("/").at(-1)?.trim().replace(/^_/u, "").toLowerCase() === viewerAttribute;
}

/**
 * The id of the viewer among a list of attributes: the first that has one. Attributes bear no money: what cannot be read is left out,
 * and noted.
 */
export function viewerOf(order: Json, list: string, name: string, note: (fault: string) => void): string | null {
  const attributes = order[list] ?? [];
  if (typeof attributes !== "object") {
    note(`${list} is not a list: no viewer was read.`);
    return null;
  }
  for (const attribute of Object.values(attributes)) {
    if (typeof attribute !== "object") note(`An item of ${list} is not an object: no viewer was read from it.`);
    const value = valueOfViewer(attribute as Json | null, name);
    if (typeof value === "string" || typeof value === "number") {
      const viewer = viewerIdOf(String(value), note);
      if (viewer !== null) return viewer;
    } else if (value !== null && value !== undefined) note(`${viewerAttribute} is not a text: no viewer was read.`);
  }
  return null;
}

/** Undefined for an attribute of something else. */
function valueOfViewer(attribute: Json | null, name: string): unknown {
  const { [name]: key, value } = attribute ?? {};
  return typeof key === "string" && isViewerName(key) ? value : undefined;
}

/** Null for a text that is no id of a viewer, which is noted unless it is blank. */
export function viewerIdOf(text: string, note: (fault: string) => void): string | null {
  const id = text.trim();
  if (id === "") return null;
  if (canBeKey(id) && !isPlaceholderId(id)) return id;
  note(`${viewerAttribute} identifies no viewer: see how the shop sets it.`);
  return null;
}
