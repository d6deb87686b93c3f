import { AppError } from "../errors.js";
import { clip } from "../text.js";

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
