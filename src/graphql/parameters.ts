import { AppError } from "../errors.js";
import { limits } from "../execution/validation/limits.js";
import { textTooLong } from "../execution/validation/parse.js";

/** GraphQL over HTTP, section 5.1. */
const known: ReadonlySet<string> = new Set(["query", "operationName", "variables", "extensions"]);

/**
 * A request's body without members that mean nothing (GraphQL over HTTP, 5.1: they are ignored). Yoga would take one with `then` for
 * a promise, and one with `status` and `headers` for a response.
 *
 * @returns the body itself where it has no others
 */
export function withoutUnknown(body: unknown): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body; // Yoga refuses these
  const members = Object.entries(body);
  const kept = members.filter(([name]) => known.has(name));
  return kept.length === members.length ? body : Object.fromEntries(kept);
}

/** @throws {AppError} BAD_REQUEST for a body without an operation */
export function requireQuery(body: unknown): void {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return; // Yoga refuses these
  if (!("query" in body) || body.query === null) throw new AppError("BAD_REQUEST", "Must provide query string.");
}

/** Called before the operation is even looked up. @throws {AppError} BAD_REQUEST */
export function refuseLongText(body: unknown): void {
  if (typeof body !== "object" || body === null || !("query" in body)) return;
  const { query } = body;
  if (typeof query === "string" && query.length > limits.textCharacters) throw new AppError("BAD_REQUEST", textTooLong);
}

/** Refuses invalid JSON in a query string, to which Yoga would respond with 500. @throws {AppError} BAD_REQUEST */
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

/** A GET's query string as the body of a POST; undefined for a repeated parameter or invalid JSON. */
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

function parsed(member: Readonly<Record<string, string | undefined>>): object {
  return Object.fromEntries(
    Object.entries(member).flatMap(([name, json]) => (json ? [[name, JSON.parse(json) as unknown]] : [])),
  );
}
