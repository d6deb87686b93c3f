import { asBuffer } from "../../../lib/threads/asBuffer.js";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u;
const uuidCharacters = 36;
const uuidBytes = 16;

/**
 * An id as stored, in PostgreSQL's hexadecimal form of `bytea`. A canonical UUID (RFC 9562: lower case, with dashes)
 * takes its 16 bytes instead of 36 characters. Everything else is its UTF-8; text of 16 bytes is followed by a NUL,
 * which no id can contain. So ids that differ in any way differ as bytes too.
 */
export function idBytes(id: string): string {
  if (uuid.test(id)) {
    return `\\x${id.slice(0, 8)}${id.slice(9, 13)}${id.slice(14, 18)}${id.slice(19, 23)}${id.slice(24)}`;
  }
  const hex = Buffer.from(id).toString("hex");
  return `\\x${hex}${hex.length === uuidBytes * 2 ? "00" : ""}`;
}

/** An array literal of ids as stored. UUIDs are written into a buffer: pieces of text take four times as long. */
export function idArrayLiteral(ids: readonly string[]): string {
  return uuidArrayLiteral(ids) ?? `{${ids.map((id) => `\\${idBytes(id)}`).join(",")}}`;
}

const [dash, openBrace, closeBrace, comma, backslash, x] = [45, 123, 125, 44, 92, 120];
const isHexDigit = Uint8Array.from({ length: 128 }, (_, code) => Number(/[0-9a-f]/u.test(String.fromCharCode(code))));
/** The length of `,\\x` and the digits: within an array a backslash escapes the other one. */
const elementLength = 4 + uuidBytes * 2;

/** @returns undefined where there are others than canonical UUIDs and empty ids */
function uuidArrayLiteral(ids: readonly string[]): string | undefined {
  if (ids.length === 0) return "{}";
  const literal = Buffer.allocUnsafe(ids.length * elementLength + 1);
  let end = 0;
  for (const id of ids) {
    const start = end;
    literal[end++] = comma;
    literal[end++] = backslash;
    literal[end++] = backslash;
    literal[end++] = x;
    if (id === "") continue;
    if (id.length !== uuidCharacters) return undefined;
    for (let place = 0; place < uuidCharacters; place += 1) {
      const code = id.charCodeAt(place);
      if (code < 128 && isHexDigit[code] === 1) literal[end++] = code;
      else if (code !== dash || (place !== 8 && place !== 13 && place !== 18 && place !== 23)) return undefined;
    }
    if (end !== start + elementLength) return undefined; // a digit where a dash belongs
  }
  literal[0] = openBrace;
  literal[end++] = closeBrace;
  return literal.toString("latin1", 0, end);
}

export function idText(bytes: Uint8Array): string {
  const buffer = asBuffer(bytes);
  if (buffer.length === uuidBytes) {
    const hex = buffer.toString("hex");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  }
  return buffer.toString("utf8", 0, buffer.length - (buffer.length === uuidBytes + 1 && buffer.at(-1) === 0 ? 1 : 0));
}
