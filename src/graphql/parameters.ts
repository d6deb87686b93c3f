import { AppError } from "../errors.js";
import { clip } from "../lib/text.js";
import { limits } from "../execution/limits.js";
import { textTooLong } from "../execution/parse.js";

/** What a request may hold: GraphQL over HTTP, section 5.1. */
const known: ReadonlySet<string> = new Set(["query", "operationName", "variables", "extensions"]);

/**
 * Refuses a body with any other member. Yoga does so too, but only after it has taken a body with `then` for a promise,
 * and one with `status` and `headers` for a response.
 *
 * @throws {AppError} BAD_REQUEST
 */
export function refuseUnknownParameters(body: unknown): void {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return; // Yoga says what is wrong
  for (const [name, value] of Object.entries(body)) {
    if (value === null || known.has(name)) continue;
    throw new AppError("BAD_REQUEST", `Unexpected parameter "${clip(name)}" in the request body.`);
  }
}

/**
 * Refuses a body whose operation is too long, before anything is done with it: even to look whether it is known takes longer
 * the longer it is.
 *
 * @throws {AppError} BAD_REQUEST
 */
export function refuseLongText(body: unknown): void {
  if (typeof body !== "object" || body === null || !("query" in body)) return;
  const { query } = body;
  if (typeof query === "string" && query.length > limits.textCharacters) throw new AppError("BAD_REQUEST", textTooLong);
}

/**
 * Refuses a query string whose JSON parts are no JSON, which Yoga takes for a failure of its own.
 *
 * @throws {AppError} BAD_REQUEST
 */
export function refuseMalformedSearch(search: string): void {
  const given = new URLSearchParams(search);
  for (const name of ["variables", "extensions"]) {
    const value = given.get(name);
    if (value) requireJson(name, value);
  }
}

function requireJson(name: string, value: string): void {
  try {
    JSON.parse(value);
  } catch {
    throw new AppError("BAD_REQUEST", `The parameter ${name} is not valid JSON.`);
  }
}

/**
 * What the query string of a GET asks for, as the body of a POST would say it; undefined where a part is named twice, or
 * is no JSON.
 */
export function readSearch(search: string): unknown {
  const given = new URLSearchParams(search);
  if (new Set(given.keys()).size !== given.size) return undefined;
  const { variables, extensions, ...others } = Object.fromEntries(given);
  try {
    return { ...others, ...parsed({ variables }), ...parsed({ extensions }) };
  } catch {
    return undefined;
  }
}

/** A member whose text is JSON; none where there is no text. */
function parsed(member: Readonly<Record<string, string | undefined>>): object {
  return Object.fromEntries(
    Object.entries(member).flatMap(([name, json]) => (json ? [[name, JSON.parse(json) as unknown]] : [])),
  );
}
