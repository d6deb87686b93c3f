import { isUtf8 } from "node:buffer";

const code = (character: string): number => character.charCodeAt(0);
const [quote, backslash, comma, colon] = [code('"'), code("\\"), code(","), code(":")] as const;
const [arrayStart, arrayEnd, objectStart, objectEnd] = [code("["), code("]"), code("{"), code("}")] as const;
const [minus, plus, point, zero] = [code("-"), code("+"), code("."), code("0")] as const;
const [lowerE, upperE, lowerU] = [code("e"), code("E"), code("u")] as const;
const byteOrderMark = Buffer.from("\uFEFF");
const literals: ReadonlyMap<number | undefined, Buffer> = new Map(
  ["true", "false", "null"].map((literal) => [code(literal), Buffer.from(literal)]),
);
const whiteSpace = tableOf(" \t\r\n");
const afterBackslash = tableOf('"\\/bfnrt');

/** 1 at the code of each character: a body may have 64 MB, and a set would take seconds. */
function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[code(character)] = 1;
  return table;
}

/**
 * Where a text stops being JSON (RFC 8259) in UTF-8: the index of its first byte that cannot stand there, or its length where
 * it ends too early. For texts that could not be parsed, since the parser's own message quotes them and names no place.
 */
export function faultIn(bytes: Uint8Array): number {
  const ofText = isUtf8(bytes) ? bytes.length : utf8Fault(bytes);
  return Math.min(ofText, grammarFault(bytes));
}

function grammarFault(bytes: Uint8Array): number {
  const grammar = new Grammar();
  const start = byteOrderMark.every((byte, index) => bytes[index] === byte) ? byteOrderMark.length : 0;
  for (let at = start; at < bytes.length; at += 1) {
    if (whiteSpace[bytes[at] as number] === 1) continue; // within its length
    const last = grammar.take(bytes, at);
    if (last < 0) return -1 - last;
    at = last;
  }
  return bytes.length;
}

/** What may come next. */
const [aValue, aValueOrEnd, aName, aNameOrEnd, aColon, aSeparator] = [0, 1, 2, 3, 4, 5] as const;

/** Takes one token of JSON after the other. */
class Grammar {
  #expected: number = aValue;
  /** Of the innermost array or object that is open. */
  #end = -1;
  readonly #ends: number[] = [];

  /** @returns the index of the last byte of the token; or, where that may not stand there, -1 minus the index of the fault */
  take(bytes: Uint8Array, at: number): number {
    const byte = bytes[at] as number; // within its length
    switch (this.#expected) {
      case aColon:
        return byte === colon ? this.#expect(aValue, at) : -1 - at;
      case aSeparator:
        return this.#separate(byte, at);
      case aName:
      case aNameOrEnd:
        if (byte === objectEnd && this.#expected === aNameOrEnd) return this.#close(at);
        return this.#expect(aColon, byte === quote ? endOfString(bytes, at) : -1 - at);
      default:
        if (byte === arrayEnd && this.#expected === aValueOrEnd) return this.#close(at);
        return this.#takeValue(bytes, at, byte);
    }
  }

  #separate(byte: number, at: number): number {
    if (byte === this.#end) return this.#close(at);
    if (byte !== comma || this.#end === -1) return -1 - at;
    return this.#expect(this.#end === objectEnd ? aName : aValue, at);
  }

  #takeValue(bytes: Uint8Array, at: number, byte: number): number {
    if (byte !== arrayStart && byte !== objectStart) return this.#expect(aSeparator, endOfScalar(bytes, at));
    this.#end = byte === arrayStart ? arrayEnd : objectEnd;
    this.#ends.push(this.#end);
    return this.#expect(byte === arrayStart ? aValueOrEnd : aNameOrEnd, at);
  }

  #close(at: number): number {
    this.#ends.pop();
    this.#end = this.#ends.at(-1) ?? -1;
    return this.#expect(aSeparator, at);
  }

  #expect(next: number, at: number): number {
    this.#expected = next;
    return at;
  }
}

/** The index of the last byte of a text, number or literal; or, where it is not one, -1 minus the index of the fault. */
function endOfScalar(bytes: Uint8Array, start: number): number {
  if (bytes[start] === quote) return endOfString(bytes, start);
  const literal = literals.get(bytes[start]);
  if (literal === undefined) return endOfNumber(bytes, start);
  const wrong = literal.findIndex((byte, index) => bytes[start + index] !== byte);
  return wrong === -1 ? start + literal.length - 1 : -1 - (start + wrong);
}

function endOfString(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  for (let at = start + 1; at < length; at += 1) {
    const byte = bytes[at] as number; // within its length
    if (byte === quote) return at;
    if (byte < 0x20) return -1 - at;
    if (byte !== backslash) continue;
    at += 1;
    if (afterBackslash[bytes[at] ?? 0] === 1) continue;
    if (bytes[at] !== lowerU) return -1 - at;
    for (const last = at + 4; at < last; at += 1) {
      if (!isHexadecimal(bytes[at + 1])) return -1 - (at + 1);
    }
  }
  return -1 - length;
}

function endOfNumber(bytes: Uint8Array, start: number): number {
  let first = bytes[start] === minus ? start + 1 : start;
  let end = bytes[first] === zero ? first + 1 : digitsEnd(bytes, first);
  if (end === first) return -1 - first;
  if (bytes[end] === point) {
    first = end + 1;
    end = digitsEnd(bytes, first);
    if (end === first) return -1 - first;
  }
  if (bytes[end] === lowerE || bytes[end] === upperE) {
    first = bytes[end + 1] === plus || bytes[end + 1] === minus ? end + 2 : end + 1;
    end = digitsEnd(bytes, first);
    if (end === first) return -1 - first;
  }
  return end - 1;
}

function digitsEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at += 1;
  return at;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function isHexadecimal(byte: number | undefined): boolean {
  return isDigit(byte) || (byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}

function utf8Fault(bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length;) {
    const lead = Number(bytes[at]);
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (length > 1 && !isUtf8(bytes.subarray(at, at + length))) return at;
    at += length;
  }
  return bytes.length;
}

const newline = 0x0a;
const sliceBytes = 1024 * 1024;

/** The line and the column, both from 1, of a byte. Columns are UTF-16 code units, as editors count them. */
export function placeIn(bytes: Uint8Array, at: number): { readonly line: number; readonly column: number } {
  let [line, lineStart] = [1, 0];
  for (let end = bytes.indexOf(newline); end !== -1 && end < at; end = bytes.indexOf(newline, lineStart)) {
    [line, lineStart] = [line + 1, end + 1];
  }
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true }); // what is no UTF-8 counts, too
  let column = 1;
  for (let from = lineStart; from < at; from += sliceBytes) {
    column += utf8.decode(bytes.subarray(from, Math.min(from + sliceBytes, at)), { stream: true }).length;
  }
  return { line, column };
}

/** What is said of a line that is not JSON. */
export function notJson(line: string): string {
  const bytes = Buffer.from(line);
  return `The line is not JSON: see column ${placeIn(bytes, faultIn(bytes)).column}.`;
}
