import { JsonScanner } from "./json/scanJson.js";

/** Whether PostgreSQL can store the text: it refuses NUL, and a lone surrogate would become U+FFFD. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

export interface TextFault {
  readonly code: "REQUIRED" | "TOO_LONG" | "INVALID_VALUE";
  readonly message: string;
}

const visible = /\S/u;

/** Why a text cannot be stored; undefined if it can. @param name of the field, for the message */
export function textFault(
  text: string,
  name: string,
  charactersMax: number,
  mayBeBlank = false,
): TextFault | undefined {
  if (!mayBeBlank && !visible.test(text)) return { code: "REQUIRED", message: `${name} must not be blank.` };
  if (isLongerThan(text, charactersMax)) {
    return { code: "TOO_LONG", message: `${name} must have at most ${charactersMax} characters.` };
  }
  // Lone surrogates would become U+FFFD, so that different skus would be equal.
  if (text.includes("\0")) return { code: "INVALID_VALUE", message: `${name} must not contain a NUL character.` };
  if (!text.isWellFormed()) return { code: "INVALID_VALUE", message: `${name} must not contain a lone surrogate.` };
  return undefined;
}

const printable = /^[ -~]*$/u;

/** The first control or format character of a text, because nobody sees it; undefined if there is none. */
export function invisibleIn(text: string): string | undefined {
  return printable.test(text) ? undefined : /[\p{Cc}\p{Cf}]/u.exec(text)?.[0];
}

/** Removes control and format characters at both ends, with the blanks beside them. */
export function withoutInvisibleEnds(text: string): string {
  const [start, end] = [text.charCodeAt(0), text.charCodeAt(text.length - 1)];
  if ((start > 32 && start < 127 && end > 32 && end < 127) || invisibleIn(text) === undefined) return text;
  const [characters, isEnd] = [Array.from(text), (character: string) => /[\p{Cc}\p{Cf}\s]/u.test(character)];
  const [first, last] = [
    characters.findIndex((each) => !isEnd(each)),
    characters.findLastIndex((each) => !isEnd(each)),
  ];
  const ends = [...characters.slice(0, Math.max(first, 0)), ...characters.slice(last + 1)].join("");
  return invisibleIn(ends) === undefined ? text : characters.slice(first, last + 1).join("");
}

/** The most characters of ids, skus and names. */
export const nameCharactersMax = 255;

/** Whether a text can be a stored id or sku. */
export function canBeKey(text: string): boolean {
  return !isLongerThan(text, nameCharactersMax) && isStorable(text);
}

/** `3 products`, `1 product`. */
export function count(items: number, one: string, many = `${one}s`): string {
  return `${items} ${items === 1 ? one : many}`;
}

export function clip(text: string, charactersMax = 60): string {
  if (text.length <= charactersMax) return text.toWellFormed();
  const end = charactersMax - Number(/[\ud800-\udbff]/u.test(text.charAt(charactersMax - 1)));
  return `${text.slice(0, end)}…`.toWellFormed();
}

/** Counts Unicode code points, as PostgreSQL does, if the UTF-16 length does not decide. */
export function isLongerThan(value: string, max: number): boolean {
  if (value.length <= max) return false;
  if (value.length > max * 2) return true;
  let characters = 0;
  for (const _ of value) characters += 1;
  return characters > max;
}

/** Shorter texts parse within milliseconds, however deep they are. */
const flatFromCharacters = 16 * 1024;

/**
 * Parses JSON that is not nested deeply: parsing a megabyte of brackets would take a second and 60 MB of memory.
 *
 * @throws {SyntaxError} for invalid JSON
 * @throws {AppError} BAD_REQUEST for a long text with more levels than `depthMax`
 */
export function parseFlatJson(text: string): unknown {
  if (text.length > flatFromCharacters) new JsonScanner().push(Buffer.from(text));
  return JSON.parse(text) as unknown;
}

/** Returns a Buffer of the same memory: in a message to a thread, a Buffer becomes a plain Uint8Array. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
