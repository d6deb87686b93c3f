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
/** Bytes looked at before others have their turn: about a millisecond. */
const stretchBytes = 1024 * 1024;

/**
 * Takes the one string of at least `bytesMin` bytes out of a JSON text (RFC 8259), which need not be valid. To parse such a
 * string takes the event loop for as long as it is, and twice its memory. Undefined where there is none, or more than one.
 */
export async function takeLongString(json: Buffer, bytesMin: number): Promise<WithoutLongString | undefined> {
  if (json.length < bytesMin) return undefined;
  const search = new LongStringSearch(json, bytesMin);
  while (search.goOn(stretchBytes)) await setImmediate();
  const [place, ...others] = search.found;
  if (place === undefined || others.length > 0) return undefined;
  const ticket = randomUUID();
  const around = [json.subarray(0, place.start), Buffer.from(ticket), json.subarray(place.end)];
  return { json: Buffer.concat(around), ticket, content: json.subarray(place.start, place.end) };
}

/** Where strings of at least so many bytes stand in a JSON text, without their quotes. */
class LongStringSearch {
  readonly found: { readonly start: number; readonly end: number }[] = [];
  #at = 0;
  /** Of the string that this is in, or 0. */
  #start = 0;

  constructor(
    readonly json: Buffer,
    readonly bytesMin: number,
  ) {}

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
    if (end - this.#start >= this.bytesMin) this.found.push({ start: this.#start, end });
    this.#start = 0;
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
