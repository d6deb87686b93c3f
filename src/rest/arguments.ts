import { setImmediate } from "node:timers/promises";
import { AppError, errorAt, Problems } from "../errors.js";
import { unknownField, type Variables } from "../graphql/variables.js";
import type { Context } from "../graphql/context.js";
import { parseJson } from "../json.js";
import { takeLongString } from "../jsonString.js";
import { clip } from "../text.js";

/** What a call was sent. */
export interface Arguments extends Pick<Context, "longStrings"> {
  readonly variables: Variables;
}

/** Shorter texts are parsed in a moment. */
const longFromBytes = 256 * 1024;

/**
 * The arguments of a POST: the members of its JSON body, as they are. The query string plays no part.
 *
 * @param longText the one that is left unparsed where it is long
 * @throws {AppError} BAD_REQUEST for a body that is no JSON object, VALIDATION_FAILED for members nobody knows
 */
export async function bodyArguments(
  body: Buffer,
  known: ReadonlySet<string>,
  longText: string | undefined,
): Promise<Arguments> {
  const taken = longText === undefined ? undefined : await takeLongString(body, longText, longFromBytes);
  if (longText !== undefined && taken !== undefined) {
    const { json, ticket, content } = taken;
    const variables = membersOf(json, known);
    if (variables[longText] === ticket) return { variables, longStrings: new Map([[ticket, content]]) };
    await setImmediate(); // it is not a member of the body itself, which is parsed a second time now
  }
  return { variables: membersOf(body, known) };
}

function membersOf(body: Buffer, known: ReadonlySet<string>): Variables {
  const value = parseJson(body);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AppError("BAD_REQUEST", "The body must be a JSON object.");
  }
  const problems = new Problems();
  for (const name of Object.keys(value)) {
    if (!known.has(name)) problems.add(unknownField(name, [clip(name)]));
  }
  problems.throwIfAny();
  return value as Variables;
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
