import { AppError, errorAt, Problems } from "../errors.js";
import { unknownField, type Variables } from "../execution/inputShape.js";
import type { Context } from "../schema/context.js";
import type { JsonBody } from "../lib/json/body.js";
import { clip } from "../lib/text.js";

/** What a call was sent. */
export interface Arguments extends Pick<Context, "unparsed" | "bodyLength"> {
  readonly variables: Variables;
}

/**
 * The arguments of a POST: the members of its JSON body, as they are. The query string plays no part.
 *
 * @throws {AppError} BAD_REQUEST for a body that is no JSON object, VALIDATION_FAILED for members nobody knows
 */
export function bodyArguments({ value, unparsed, length }: JsonBody, known: ReadonlySet<string>): Arguments {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AppError("BAD_REQUEST", "The body must be a JSON object.");
  }
  const problems = new Problems();
  for (const name of Object.keys(value)) {
    if (!known.has(name)) problems.addLazily(() => unknownField(name, [clip(name)]));
  }
  problems.throwIfAny();
  return { variables: value as Variables, unparsed, bodyLength: length };
}

/** The arguments of a call without a body: its path parameters, and those of the query string that the operation has. */
export function urlArguments(
  parameters: Readonly<Record<string, string>>,
  search: string,
  known: ReadonlySet<string>,
): Variables {
  const query = new URLSearchParams(search);
  const found = [...known].flatMap((name) => {
    const value = parameters[name] ?? query.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

/** Decodes a path segment exactly once: `%2F` and `%25` are a slash and a percent sign of the id, `+` is a plus. */
export function decodeSegment(name: string, segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw errorAt("BAD_REQUEST", `${name} is not percent-encoded UTF-8.`, [name]);
  }
}
