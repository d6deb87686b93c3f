import { isUtf8 } from "node:buffer";
import { visit } from "jsonc-parser";
import { AppError } from "../../errors.js";

/** The parser is recursive: more levels would overflow the stack. */
const levelsMax = 1_000;

const newline = 0x0a;

const sliceBytes = 1024 * 1024;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * @param body contains the text, at `offset`
 * @throws {AppError} BAD_REQUEST, with the place in the body
 */
export function parseJson(text: Uint8Array, body: Uint8Array = text, offset = 0): unknown {
  try {
    return decodeJson(text);
  } catch {
    throw invalidJson(body, offset + faultIn(text));
  }
}

/** @throws {Error} for anything but JSON in UTF-8 */
export function decodeJson(text: Uint8Array): unknown {
  return JSON.parse(utf8.decode(text));
}

/** @param at the index of the wrong byte */
export function invalidJson(body: Uint8Array, at: number): AppError {
  const { line, column } = placeIn(body, at);
  const hint = isNextValue(body, at) ? " NDJSON, a value on each line, is sent as application/x-ndjson." : "";
  return new AppError("BAD_REQUEST", `The body is not valid JSON in UTF-8: see line ${line}, column ${column}.${hint}`);
}

const [lineFeed, objectStart, objectEnd] = [0x0a, 0x7b, 0x7d] as const;

/** Whether an object ends on the line before the line of this byte. */
function isNextValue(body: Uint8Array, at: number): boolean {
  const lineEnd = body.lastIndexOf(lineFeed, at);
  if (body[at] !== objectStart || lineEnd === -1) return false;
  return body[lineEnd - 1] === objectEnd || body[lineEnd - 2] === objectEnd; // before a CR
}

/** Whether a JSON value is an object: neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Where a text stops being JSON (RFC 8259) in UTF-8: the index of the first byte of the wrong token, or the text's length if it
 * ends too early. For texts that could not be parsed, because the message of JSON.parse quotes them and names no place.
 */
export function faultIn(bytes: Uint8Array): number {
  const readable = isUtf8(bytes) ? bytes.length : utf8Fault(bytes);
  const text = new TextDecoder().decode(bytes);
  const at = grammarFault(text);
  const markBytes = bytes[0] === 0xef && readable >= 3 ? 3 : 0; // of a byte order mark, which the decoder drops
  return at === text.length ? readable : Math.min(readable, markBytes + Buffer.byteLength(text.slice(0, at)));
}

/** The index of the first wrong token, or the text's length. */
function grammarFault(text: string): number {
  let fault = text.length;
  let levels = 0;
  const found = new Error("The first fault is found.");
  const stop = (_code: unknown, offset: number): never => {
    fault = offset;
    throw found;
  };
  const enter = (offset: number): void => {
    levels += 1;
    if (levels > levelsMax) stop(undefined, offset);
  };
  const leave = (): void => void (levels -= 1);
  try {
    visit(
      text,
      { onError: stop, onObjectBegin: enter, onArrayBegin: enter, onObjectEnd: leave, onArrayEnd: leave },
      { disallowComments: true },
    );
  } catch (error) {
    if (error !== found) throw error;
  }
  return fault;
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

/** The line and the column, both from 1, of a byte. Columns are UTF-16 code units, as editors count them. */
export function placeIn(bytes: Uint8Array, at: number): { readonly line: number; readonly column: number } {
  let [line, lineStart] = [1, 0];
  for (let end = bytes.indexOf(newline); end !== -1 && end < at; end = bytes.indexOf(newline, lineStart)) {
    [line, lineStart] = [line + 1, end + 1];
  }
  const units = new TextDecoder("utf-8", { ignoreBOM: true }); // invalid UTF-8 counts too
  let column = 1;
  for (let from = lineStart; from < at; from += sliceBytes) {
    column += units.decode(bytes.subarray(from, Math.min(from + sliceBytes, at)), { stream: true }).length;
  }
  return { line, column };
}

/** The message for a line that is not JSON. */
export function notJson(line: string): string {
  const bytes = Buffer.from(line);
  return `The line is not JSON: see column ${placeIn(bytes, faultIn(bytes)).column}.`;
}
