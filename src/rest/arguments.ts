import {
  getNullableType,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isListType,
  type OperationDefinitionNode,
  typeFromAST,
} from "graphql";
import { AppError, errorAt, Problems } from "../errors.js";
import { scalarShapes, unknownField, type Variables } from "../execution/inputShape.js";
import type { JsonBody } from "../lib/json/body.js";
import { clip } from "../lib/text.js";
import type { Context } from "../schema/context.js";

/** The arguments of a call, and what of its body is not parsed yet. */
export interface Arguments extends Pick<Context, "unparsed" | "bodyLength"> {
  readonly variables: Variables;
}

/**
 * The arguments of a POST: the members of its JSON body, unchanged. The query string is ignored.
 *
 * @throws {AppError} BAD_REQUEST for a body that is not a JSON object, VALIDATION_FAILED for unknown members
 */
export function bodyArguments(body: JsonBody | undefined, known: ReadonlySet<string>): Arguments {
  const value = body?.value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AppError("BAD_REQUEST", "The body must be a JSON object.");
  }
  const problems = new Problems();
  for (const name of Object.keys(value)) {
    if (!known.has(name)) problems.addLazily(() => unknownField(name, [clip(name)]));
  }
  problems.throwIfAny();
  return { variables: value as Variables, unparsed: body?.unparsed, bodyLength: body?.length };
}

/**
 * Reads the arguments of a call without a body from its path parameters, still percent-encoded, and its query string.
 *
 * @throws {AppError} BAD_REQUEST for a path parameter that is not UTF-8, VALIDATION_FAILED for values of a wrong type
 */
export type ReadUrlArguments = (segments: Readonly<Record<string, string>>, search: string) => Variables;

interface UrlArgument {
  readonly name: string;
  readonly isList: boolean;
  /** What its values are called in messages. */
  readonly expected: string;
  /** Undefined for a text that is not a value of the type. */
  readonly coerce: (text: string) => unknown;
}

/**
 * Compiles the reader of a route's arguments. A list is a parameter that is repeated in the query string; any other
 * parameter counts where it appears first.
 *
 * @param route its method and path, for the error
 * @throws {Error} for an argument that cannot be written in a URL: an input object, or a list of lists
 */
export function urlArguments(
  route: string,
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): ReadUrlArguments {
  const known = variableDefinitions.map(({ variable, type }) => {
    const inputType = typeFromAST(schema, type as never) as GraphQLInputType; // sofa-api took the type from this schema
    const argument = urlArgument(variable.name.value, inputType);
    if (argument !== undefined) return argument;
    throw new Error(`${route}: the argument ${variable.name.value} of type ${String(inputType)} cannot be in a URL.`);
  });
  return (segments, search) => {
    const query = new URLSearchParams(search);
    const problems = new Problems();
    const variables: Record<string, unknown> = {};
    for (const argument of known) {
      const { name, isList } = argument;
      const segment = segments[name];
      const texts = segment === undefined ? query.getAll(name) : [decodeSegment(name, segment)];
      if (texts.length === 0) continue;
      const values = isList ? texts.map((text) => valueOf(argument, text, problems)) : undefined;
      variables[name] = values ?? valueOf(argument, texts[0] ?? "", problems);
    }
    problems.throwIfAny();
    return variables;
  };
}

function valueOf({ name, expected, coerce }: UrlArgument, text: string, problems: Problems): unknown {
  const value = coerce(text);
  if (value === undefined) {
    const message = `${name} must be ${expected}, not ${JSON.stringify(clip(text))}.`;
    problems.add({ code: "INVALID_TYPE", message, path: [name] });
  }
  return value;
}

/** Undefined for a type whose values cannot be written in a URL. */
function urlArgument(name: string, type: GraphQLInputType): UrlArgument | undefined {
  const nullable = getNullableType(type);
  const isList = isListType(nullable);
  const item = isList ? getNullableType(nullable.ofType) : nullable;
  if (isListType(item) || isInputObjectType(item)) return undefined;
  if (isEnumType(item)) {
    const names = new Set(item.getValues().map((value) => value.name));
    const expected = `one of ${[...names].join(", ")}`;
    return { name, isList, expected, coerce: (text) => (names.has(text) ? text : undefined) };
  }
  const shape = scalarShapes[item.name];
  const parse = parsers[item.name];
  if (shape === undefined || parse === undefined) return { name, isList, expected: "text", coerce: (text) => text };
  const coerce = (text: string) => {
    const value = parse(text);
    return shape.isValid(value) ? value : undefined;
  };
  return { name, isList, expected: shape.name, coerce };
}

/** The scalars that a URL writes in another way than JSON does. Of any other, JSON has a string too. */
const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  Int: (text) => (/^-?\d+$/u.test(text) ? Number(text) : undefined),
  Float: (text) => (/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/iu.test(text) ? Number(text) : undefined),
  Boolean: (text) => (text === "true" ? true : text === "false" ? false : undefined),
};

/** Decodes a path segment exactly once: `%2F` and `%25` are a slash and a percent sign of the id, `+` is a plus. */
function decodeSegment(name: string, segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw errorAt("BAD_REQUEST", `${name} is not percent-encoded UTF-8.`, [name]);
  }
}
