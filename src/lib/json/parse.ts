import { AppError } from "../../errors.js";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** @throws {AppError} BAD_REQUEST */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    throw invalidJson();
  }
}

export function invalidJson(): AppError {
  return new AppError("BAD_REQUEST", "The body is not valid JSON in UTF-8.");
}
