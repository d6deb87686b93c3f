import { isUtf8 } from "node:buffer";

const code = (character: string): number => character.charCodeAt(0);
const [quote, backslash, comma, colon] = [code('"'), code("\\"), code(","), code(":")] as const;
const [arrayStart, arrayEnd, objectStart, objectEnd] = [code("["), code("]"), code("{"), code("}")] as const;
const whiteSpace: ReadonlySet<number | undefined> = new Set(Buffer.from(" \t\r\n"));
const byteOrderMark = Buffer.from("\uFEFF");
const literals: ReadonlyMap<number | undefined, Buffer> = new Map(
  ["true", "false", "null"].map((literal) => [code(literal), Buffer.from(literal)]),
);
const afterBackslash: ReadonlySet<number | undefined> = new Set(Buffer.from('"\\/bfnrt'));

/**
 * Where a text stops being JSON (RFC 8259) in UTF-8: the index of its first byte that cannot stand there, or its length where
 * it ends too early. For texts that could not be parsed, since the parser's own message quotes them and names no place.
 */
export function faultIn(bytes: Uint8Array): number {
  const ofText = isUtf8(bytes) ? bytes.length : utf8Fault(bytes);
  return Math.min(ofText, grammarFault(bytes));
}

type Expected = "value" | "value or end" | "name" | "name or end" | "colon" | "separator";

function grammarFault(bytes: Uint8Array): number {
  const ends: number[] = []; // of the arrays and objects that are open
  let at = byteOrderMark.every((byte, index) => bytes[index] === byte) ? byteOrderMark.length : 0;
  let expected: Expected = "value";
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (whiteSpace.has(byte)) continue;
    const isEnd = byte === ends.at(-1) && ends.length > 0;
    if (isEnd && (expected === "separator" || expected.endsWith("or end"))) {
      ends.pop();
      expected = "separator";
    } else if (expected === "separator") {
      if (byte !== comma || ends.length === 0) return at;
      expected = ends.at(-1) === objectEnd ? "name" : "value";
    } else if (expected === "colon") {
      if (byte !== colon) return at;
      expected = "value";
    } else if (expected.startsWith("name")) {
      const end = byte === quote ? endOfString(bytes, at) : -1 - at;
      if (end < 0) return -1 - end;
      at = end;
      expected = "colon";
    } else if (byte === arrayStart || byte === objectStart) {
      ends.push(byte === arrayStart ? arrayEnd : objectEnd);
      expected = byte === arrayStart ? "value or end" : "name or end";
    } else {
      const end = endOfScalar(bytes, at);
      if (end < 0) return -1 - end;
      at = end;
      expected = "separator";
    }
  }
  return bytes.length;
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
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = Number(bytes[at]);
    if (byte === quote) return at;
    if (byte < 0x20) return -1 - at;
    if (byte !== backslash) continue;
    at += 1;
    if (afterBackslash.has(bytes[at])) continue;
    if (bytes[at] !== code("u")) return -1 - at;
    for (const last = at + 4; at < last; at += 1) {
      if (!isHexadecimal(bytes[at + 1])) return -1 - (at + 1);
    }
  }
  return -1 - bytes.length;
}

function endOfNumber(bytes: Uint8Array, start: number): number {
  const digitsEnd = (from: number): number => {
    let at = from;
    while (isDigit(bytes[at])) at += 1;
    return at;
  };
  let first = bytes[start] === code("-") ? start + 1 : start;
  let end = bytes[first] === code("0") ? first + 1 : digitsEnd(first);
  if (end === first) return -1 - first;
  if (bytes[end] === code(".")) {
    first = end + 1;
    end = digitsEnd(first);
    if (end === first) return -1 - first;
  }
  if (bytes[end] === code("e") || bytes[end] === code("E")) {
    first = bytes[end + 1] === code("+") || bytes[end + 1] === code("-") ? end + 2 : end + 1;
    end = digitsEnd(first);
    if (end === first) return -1 - first;
  }
  return end - 1;
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

/** The line and the column, both from 1, of a byte: columns are characters. */
export function placeIn(bytes: Uint8Array, at: number): { readonly line: number; readonly column: number } {
  let [line, column] = [1, 1];
  for (let index = 0; index < at; index += 1) {
    const byte = Number(bytes[index]);
    if (byte === newline) [line, column] = [line + 1, 1];
    else if ((byte & 0xc0) !== 0x80) column += 1; // not within a character
  }
  return { line, column };
}

/** What is said of a line that is not JSON. */
export function notJson(line: string): string {
  const bytes = Buffer.from(line);
  return `The line is not JSON: see column ${placeIn(bytes, faultIn(bytes)).column}.`;
}
