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
  return new AppError("BAD_REQUEST", `The body is not valid JSON in UTF-8: see line ${line}, column ${column}.`);
}
