import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";

/** The content of a string in a JSON text: bytes between its quotes, escapes and all, which nobody has read yet. */
export type JsonString = Buffer;

/** A JSON text without its long string. */
export interface WithoutLongString {
  /** The same text with the ticket in place of the string's content. */
  readonly json: Buffer;
  /** Nobody who sends the text can guess it. */
  readonly ticket: string;
  readonly content: JsonString;
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
/** Bytes looked at before others have their turn: less than a millisecond, or two where there are quotes alone. */
const stretchBytes = 256 * 1024;

/**
 * Takes the value of a member out of a JSON text (RFC 8259), which need not be valid, if it is a string of at least `bytesMin`
 * bytes: to parse that keeps the event loop for as long as it is, and holds it in memory twice. Undefined where there is no such
 * member, or more than one, or its name is written with escapes. The member may stand at any depth.
 */
export async function takeLongString(
  json: Buffer,
  name: string,
  bytesMin: number,
): Promise<WithoutLongString | undefined> {
  if (json.length < bytesMin) return undefined;
  const search = new LongStringSearch(json, name, bytesMin);
  while (search.goOn(stretchBytes)) await setImmediate();
  const [place, ...others] = search.found;
  if (place === undefined || others.length > 0) return undefined;
  const ticket = randomUUID();
  const around = [json.subarray(0, place.start), Buffer.from(ticket), json.subarray(place.end)];
  return { json: Buffer.concat(around), ticket, content: json.subarray(place.start, place.end) };
}

const whiteSpace: ReadonlySet<number | undefined> = new Set(Buffer.from(" \t\r\n"));

/** Where the values of members of this name stand in a JSON text that are strings of so many bytes; without their quotes. */
class LongStringSearch {
  readonly found: { readonly start: number; readonly end: number }[] = [];
  readonly #name: Buffer;
  #at = 0;
  /** Of the string that this is in, or 0. */
  #start = 0;

  constructor(
    readonly json: Buffer,
    name: string,
    readonly bytesMin: number,
  ) {
    this.#name = Buffer.from(JSON.stringify(name));
  }

  /** Looks at some bytes more. @returns whether there is more to look at */
  goOn(bytes: number): boolean {
    const { json } = this;
    const stop = Math.min(this.#at + bytes, json.length);
    let at = this.#at;
    while (at < stop) {
      if (this.#start === 0) {
        const opening = json.indexOf(quote, at);
        if (opening === -1) return false;
        at = opening + 1;
        this.#start = at;
      } else {
        let byte: number | undefined;
        while (at < stop && (byte = json[at]) !== quote && byte !== backslash) at += 1;
        if (at >= stop) break;
        if (byte === quote) this.#close(at);
        at += byte === quote ? 1 : 2; // what follows a backslash is escaped
      }
    }
    this.#at = at;
    return at < json.length;
  }

  #close(end: number): void {
    const start = this.#start;
    if (end - start >= this.bytesMin && this.#isNamed(start - 1)) this.found.push({ start, end });
    this.#start = 0;
  }

  /** Whether the name, a colon and nothing else stand before a place. */
  #isNamed(place: number): boolean {
    const before = this.#skipSpace(place);
    if (this.json[before - 1] !== colon) return false;
    const nameEnd = this.#skipSpace(before - 1);
    const nameStart = nameEnd - this.#name.length;
    return nameStart >= 0 && this.json.subarray(nameStart, nameEnd).equals(this.#name);
  }

  /** Where the white space begins that ends before a place. */
  #skipSpace(place: number): number {
    let at = place;
    while (at > 0 && whiteSpace.has(this.json[at - 1])) at -= 1;
    return at;
  }
}

/**
 * The content of a JSON string in pieces of about so many bytes, at least 16: JSON strings, each in memory of its own, that
 * say the same one after the other. A piece of what is no such content is no JSON string.
 */
export function* contentPieces(content: JsonString, bytes: number): Generator<Uint8Array<ArrayBuffer>, void> {
  for (let start = 0, end = 0; start < content.length; start = end) {
    end = wholeBefore(content, start, start + bytes);
    const piece = new Uint8Array(end - start + 2).fill(quote);
    piece.set(content.subarray(start, end), 1);
    yield piece;
  }
}

/** The last place, up to `end`, that is neither within a character nor within an escape. */
function wholeBefore(content: JsonString, start: number, end: number): number {
  if (end >= content.length) return content.length;
  let place = end;
  while (place > end - 3 && (Number(content[place]) & 0xc0) === 0x80) place -= 1; // UTF-8 goes on with up to three of them
  for (let at = place - 1; at > place - escapeBytesMax; at -= 1) {
    if (content[at] === backslash && !isEscaped(content, start, at)) {
      const length = content[at + 1] === 0x75 ? escapeBytesMax : 2;
      return at + length > place ? at : place;
    }
  }
  return place;
}

/** `\u00e9` */
const escapeBytesMax = 6;

/** Whether a byte follows an odd number of backslashes. */
function isEscaped(content: JsonString, start: number, at: number): boolean {
  let before = at;
  while (before > start && content[before - 1] === backslash) before -= 1;
  return (at - before) % 2 === 1;
}
