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
import { errorAt, Problems } from "../../errors.js";
import { enumName, scalarShapes, type Variables } from "../../execution/input/inputShape.js";
import { withPlus } from "../../lib/dateTime.js";
import { mustBe } from "../../lib/mustBe.js";
import type { RestRoute } from "../routes/route.js";

/**
 * Reads the arguments of a call without a body from its path parameters, still percent-encoded, and its query string.
 *
 * @throws {AppError} BAD_REQUEST for a path parameter that is not UTF-8, VALIDATION_FAILED for values of a wrong type
 */
export type ReadUrlArguments = (segments: Readonly<Record<string, string>>, search: string) => Variables;

/**
 * Compiles the reader of the arguments that accompany a body which is a file.
 *
 * @throws {Error} as urlArguments
 */
export function uploadArguments(
  route: string,
  schema: GraphQLSchema,
  { variableDefinitions = [], ...definition }: OperationDefinitionNode,
  { argument, placeholder }: NonNullable<RestRoute["upload"]>,
): (search: string) => Variables {
  const others = variableDefinitions.filter(({ variable }) => variable.name.value !== argument);
  const read = urlArguments(route, schema, { ...definition, variableDefinitions: others });
  return (search) => ({ ...read({}, search), [argument]: placeholder });
}

interface UrlArgument {
  readonly name: string;
  readonly isList: boolean;
  /** What its values are called in messages. */
  readonly expected: string;
  /** Undefined for an invalid value. */
  readonly coerce: (text: string) => unknown;
}

/**
 * Compiles the reader of a route's arguments. A list is a parameter that is repeated in the query string;
 * checkParameters.ts refuses others that are.
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
    problems.add({ code: "INVALID_TYPE", message: mustBe(name, expected, text), path: [name] });
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
    return { name, isList, expected: enumName(item), coerce: (text) => (names.has(text) ? text : undefined) };
  }
  const shape = scalarShapes[item.name];
  const parse = parsers[item.name];
  if (shape === undefined || parse === undefined) {
    return { name, isList, expected: "text", coerce: item.name === "DateTime" ? withPlus : (text) => text };
  }
  const coerce = (text: string) => {
    const value = parse(text);
    return shape.isValid(value) ? value : undefined;
  };
  return { name, isList, expected: shape.name, coerce };
}

/** Scalars that are not strings in JSON. */
const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  Int: (text) => (/^-?\d+$/u.test(text) ? Number(text) : undefined),
  Float: (text) => (/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/iu.test(text) ? Number(text) : undefined),
  Boolean: (text) => (text === "true" ? true : text === "false" ? false : undefined),
};

/** Decodes a path segment once: `%2F` is a slash of the id, `+` a plus. */
export function decodeSegment(name: string, segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw errorAt("BAD_REQUEST", `${name} is not percent-encoded UTF-8.`, [name]);
  }
}
