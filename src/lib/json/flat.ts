import { JsonScanner } from "./scan.js";

/** Shorter texts are parsed in milliseconds, however deep. */
const flatFromCharacters = 16 * 1024;

/**
 * Parses JSON that is not nested deeply. To parse a megabyte of brackets takes a second and 60 MB of memory.
 *
 * @throws {SyntaxError} for invalid JSON
 * @throws {AppError} BAD_REQUEST for a long text with more levels than `depthMax`
 */
export function parseFlatJson(text: string): unknown {
  if (text.length > flatFromCharacters) new JsonScanner().push(Buffer.from(text));
  return JSON.parse(text) as unknown;
}
