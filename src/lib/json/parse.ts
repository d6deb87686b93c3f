import { AppError } from "../../errors.js";
import { faultIn, placeIn } from "./fault.js";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * @param body what the text is a part of, which begins at `offset` in it
 * @throws {AppError} BAD_REQUEST, with the place in the body
 */
export function parseJson(text: Uint8Array, body: Uint8Array = text, offset = 0): unknown {
  try {
    return decodeJson(text);
  } catch {
    throw invalidJson(body, offset + faultIn(text));
  }
}

/** @throws {Error} for what is not JSON in UTF-8 */
export function decodeJson(text: Uint8Array): unknown {
  return JSON.parse(utf8.decode(text));
}

/** @param at the index of the byte that is wrong */
export function invalidJson(body: Uint8Array, at: number): AppError {
  const { line, column } = placeIn(body, at);
  const hint = isNextValue(body, at) ? " NDJSON, a value on each line, is sent as application/x-ndjson." : "";
  return new AppError("BAD_REQUEST", `The body is not valid JSON in UTF-8: see line ${line}, column ${column}.${hint}`);
}

const [lineFeed, objectStart, objectEnd] = [0x0a, 0x7b, 0x7d] as const;

/** Whether an object ends on the line before the one on which this one begins. */
function isNextValue(body: Uint8Array, at: number): boolean {
  const lineEnd = body.lastIndexOf(lineFeed, at);
  if (body[at] !== objectStart || lineEnd === -1) return false;
  return body[lineEnd - 1] === objectEnd || body[lineEnd - 2] === objectEnd; // before a CR
}

/** Whether a value of JSON is an object: neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
