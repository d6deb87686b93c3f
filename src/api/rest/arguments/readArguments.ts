import {
  getNamedType,
  getNullableType,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isListType,
  type OperationDefinitionNode,
  typeFromAST,
} from "graphql";
import type { JsonBody } from "../../../lib/json/jsonBody.js";
import type { RestOperation } from "../routes/derivation.js";
import { pathParameters, restBase, type RestRoute, takesBody } from "../routes/route.js";
import { AppError, errorAt, Problems, validationFailed } from "../../../errors.js";
import { enumName, scalarShapes, unknownField, type Variables } from "../../execution/input/inputShape.js";
import { withPlus } from "../../../lib/dateTime.js";
import { mustBe, shownValue } from "../../../lib/mustBe.js";
import { isObject } from "../../../lib/json/parseJson.js";
import { clip } from "../../../lib/text.js";
import type { Sent } from "../../../schema/context.js";

export interface RestInput {
  /** The query string, without its question mark. */
  readonly search: string;
  /** Undefined if the operation takes no body, or if the body is a file, which is in the context. */
  readonly body: JsonBody | undefined;
  readonly isUpload?: boolean;
  /** Checks the state that a write replaces: the answer to GET, or undefined if there is nothing. */
  readonly condition?: ((current: string | undefined) => void) | undefined;
  /** Whether the body is executed in batches, so that its items are not arguments yet. */
  readonly isInBatches?: boolean;
}

/** Reads the arguments of a call from its path parameters, still percent-encoded, its query string and its body. */
type ReadArguments = (segments: Readonly<Record<string, string>>, input: RestInput) => Arguments;

interface OperationArguments {
  readonly read: ReadArguments;
  /** For calls with a body, before it is read: one for files, one for JSON whose members are the arguments. */
  readonly check: Readonly<Record<"file" | "members", CheckParameters>>;
}

const anyParameters: CheckParameters = () => undefined;

/** Accepts the arguments that are not in the path. Reads of the contract ignore other parameters. */
function queryParameters(operation: RestOperation): CheckParameters {
  const inPath = pathParameters(operation);
  const inQuery = [...operation.parameters].filter(([name]) => !inPath.includes(name));
  const lists = inQuery.filter(([, { type }]) => isListType(getNullableType(type))).map(([name]) => name);
  const elsewhere = new Map(inPath.map((name) => [name, "is in the path"]));
  const ignoresOthers = operation.inContract === true && operation.root === "Query";
  return onlyParameters(
    inQuery.map(([name]) => name),
    { lists, elsewhere, ignoresOthers },
  );
}

/**
 * Compiles the reader of an operation's arguments.
 *
 * @throws {Error} if the path takes no body, and an argument cannot be written in its URL
 */
export function argumentReader(
  schema: GraphQLSchema,
  definition: OperationDefinitionNode,
  operation: RestOperation,
): OperationArguments {
  const { method, path, upload, pathField } = operation;
  const route = `${method} ${restBase}${path}`;
  if (!takesBody(operation)) {
    const check = queryParameters(operation);
    const read = urlArguments(route, schema, definition);
    return {
      read(segments, { search }) {
        if (search !== "") check(search);
        return { variables: read(segments, search) };
      },
      check: { file: anyParameters, members: anyParameters },
    };
  }
  const variables = definition.variableDefinitions ?? [];
  const inPath = pathParameters(operation);
  const isInPath = ({ variable }: (typeof variables)[number]) => inPath.includes(variable.name.value);
  const readPath = urlArguments(route, schema, { ...definition, variableDefinitions: variables.filter(isInPath) });
  const ofBody = { ...definition, variableDefinitions: variables.filter((variable) => !isInPath(variable)) };
  const known = bodyMembers(schema, ofBody, pathField);
  const readUpload = upload && uploadArguments(route, schema, ofBody, upload);
  const read: ReadArguments = (segments, { search, body, isUpload = false, isInBatches = false }) => {
    const ofPath = readPath(segments, "");
    if (isInBatches) return { variables: ofPath };
    if (isUpload && readUpload !== undefined) return { variables: { ...ofPath, ...readUpload(search) } };
    const { variables: inBody, ...args } = bodyArguments(body, known);
    const all = { ...args, variables: { ...inBody, ...ofPath } };
    return pathField === undefined ? all : withPathField(all, pathField, segments);
  };
  const members = noneBesideMembers(operation, known);
  return { read, check: { members, file: upload ? parametersBesideFile([...known.keys()], upload) : members } };
}

/**
 * Reads the arguments of a call without a body from its path parameters, still percent-encoded, and its query string.
 *
 * @throws {AppError} BAD_REQUEST if a path parameter is not UTF-8, VALIDATION_FAILED for values of a wrong type
 */
type ReadUrlArguments = (segments: Readonly<Record<string, string>>, search: string) => Variables;

/**
 * Compiles the reader of the arguments in the URL of a call whose body is a file.
 *
 * @throws {Error} as urlArguments
 */
function uploadArguments(
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
  /** What messages call its values. */
  readonly expected: string;
  /** Undefined for an invalid value. */
  readonly coerce: (text: string) => unknown;
}

/**
 * Compiles the reader of a route's arguments. A list is a parameter that may be repeated in the query string;
 * checkParameters refuses repeated parameters that are not lists.
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

/** Parsers of scalars that are not strings in JSON. */
const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  Int: (text) => (/^-?\d+$/u.test(text) ? Number(text) : undefined),
  Float: (text) => (/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/iu.test(text) ? Number(text) : undefined),
  Boolean: (text) => (text === "true" ? true : text === "false" ? false : undefined),
};

/** Decodes a path segment once: `%2F` is a slash within the id, and `+` is a plus. */
function decodeSegment(name: string, segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw errorAt("BAD_REQUEST", `${name} is not percent-encoded UTF-8.`, [name]);
  }
}

/** The arguments of a call, and the parts of its body that are not parsed yet. */
interface Arguments extends Pick<Sent, "unparsed" | "bodyLength" | "frame"> {
  readonly variables: Variables;
  /** Problems with members that are not arguments. */
  readonly problems?: Problems;
}

/** The members that a body may have, each with the fields of its input objects. */
type BodyMembers = ReadonlyMap<string, { readonly fields: ReadonlySet<string>; readonly isList: boolean }>;

/** @param pathField excluded from the fields of its member, because it is in the path */
function bodyMembers(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  pathField?: RestRoute["pathField"],
): BodyMembers {
  return new Map(
    variableDefinitions.map(({ variable, type }) => {
      const inputType = typeFromAST(schema, type as never) as GraphQLInputType; // sofa-api took the type from this schema
      const item = getNamedType(inputType);
      const fields = new Set(isInputObjectType(item) ? Object.keys(item.getFields()) : []);
      if (variable.name.value === pathField?.member) fields.delete(pathField.field);
      return [variable.name.value, { fields, isList: isListType(getNullableType(inputType)) }];
    }),
  );
}

/**
 * The arguments of a call with a body: the members of its JSON, unchanged.
 *
 * @throws {AppError} BAD_REQUEST if the body is not a JSON object
 */
function bodyArguments(body: JsonBody | undefined, known: BodyMembers): Arguments {
  const value = body?.value;
  if (!isObject(value)) {
    throw new AppError("BAD_REQUEST", mustBe("The body", `a JSON object, such as ${exampleBody(known)}`, value));
  }
  return {
    variables: value,
    problems: unknownMembers(value, known),
    unparsed: body?.unparsed,
    bodyLength: body?.length,
    frame: body?.frame,
  };
}

/**
 * Sets a field of a member to the value in the path. The body must not contain that field.
 *
 * @throws {AppError} BAD_REQUEST if the path parameter is not UTF-8
 */
function withPathField(
  args: Arguments,
  { parameter, member, field }: NonNullable<RestRoute["pathField"]>,
  segments: Readonly<Record<string, string>>,
): Arguments {
  const id = decodeSegment(parameter, segments[parameter] ?? "");
  const value: unknown = args.variables[member];
  if (!isObject(value)) return args; // validation refuses it
  const problems = args.problems ?? new Problems();
  if (Object.hasOwn(value, field)) {
    const message = `Unknown field "${field}": it is in the path.`;
    problems.add({ code: "UNKNOWN_FIELD", message, path: [member, field] });
  }
  return { ...args, variables: { ...args.variables, [member]: { ...value, [field]: id } }, problems };
}

/** An example with the first member, because all bodies of the path have it. */
function exampleBody(known: BodyMembers): string {
  const [[member, { fields, isList }] = ["", { fields: new Set(), isList: false }]] = known;
  const value = fields.size === 0 ? '"…"' : "{…}";
  return `{"${member}": ${isList ? `[${value}]` : value}}`;
}

/** If fields were sent without the member to which they belong, reports one problem: the missing member. */
function unknownMembers(body: Variables, known: BodyMembers): Problems {
  const problems = new Problems();
  const unknown = Object.keys(body).filter((name) => !known.has(name));
  for (const [member, { fields, isList }] of known) {
    const own = unknown.filter((name) => fields.has(name));
    if (own.length === 0 || Object.hasOwn(body, member)) continue;
    const example = `{"${member}": ${isList ? "[" : ""}{"${own[0] ?? ""}": …}${isList ? "]" : ""}}`;
    const message = `${member} is required: ${own.join(", ")} ${own.length === 1 ? "belongs" : "belong"} in it, as in ${example}.`;
    problems.add({ code: "REQUIRED", message, path: [member] });
  }
  for (const name of unknown) {
    const [member] = [...known].find(([, { fields }]) => fields.has(name)) ?? [];
    if (member === undefined) problems.addLazily(() => unknownField(name, [clip(name)]));
    else if (Object.hasOwn(body, member)) {
      const message = `Unknown field "${name}": it belongs in ${member}.`;
      problems.add({ code: "UNKNOWN_FIELD", message, path: [name] });
    }
  }
  return problems;
}

/**
 * Checks the names of a query string's parameters. None may be ignored: a misspelled dryRun would store products.
 *
 * @param search without its question mark
 * @throws {AppError} BAD_REQUEST if a parameter belongs elsewhere, VALIDATION_FAILED if one is unknown or repeated; with
 *   every such problem
 */
type CheckParameters = (search: string) => void;

interface ParameterRules {
  /** The accepted names. Each may be given once. */
  readonly taken: Iterable<string>;
  /** Accepted names that may be repeated. */
  readonly lists?: readonly string[];
  /** Other known names, each with the end of its message, which says where it belongs. */
  readonly elsewhere: ReadonlyMap<string, string>;
  /** A sentence about the accepted names, for messages about unknown ones. */
  readonly hint: string;
  /** Whether other names are ignored. */
  readonly ignoresOthers?: boolean;
}

/** An empty site counts as none: clients that fill in the documented defaults send it with any body. */
const noneIfEmpty: ReadonlySet<string> = new Set(["siteId", "siteType"]);

/** Accepts only these names, each once except lists. */
export function onlyParameters(
  names: readonly string[],
  { elsewhere = new Map(), ...rules }: Partial<ParameterRules> = {},
): CheckParameters {
  const hint = names.length === 0 ? "The path takes none." : `The parameters are ${names.join(", ")}.`;
  return parameterCheck({ ...rules, taken: names, elsewhere, hint });
}

/** Accepts all arguments except the file itself, and the options of how it is read. */
function parametersBesideFile(
  names: readonly string[],
  { argument, mediaTypes, readingOptions = [], repeated = [] }: NonNullable<RestRoute["upload"]>,
): CheckParameters {
  const others = names.filter((name) => name !== argument);
  const place = `is the body itself if the body is ${mediaTypes[0] ?? "a file"}`;
  return onlyParameters([...others, ...readingOptions], { lists: repeated, elsewhere: new Map([[argument, place]]) });
}

/** Accepts no parameters, because the arguments are members of the body. */
function noneBesideMembers(route: RestRoute, members: BodyMembers): CheckParameters {
  const { upload } = route;
  const fileType = upload?.mediaTypes[0] ?? "";
  const otherwise = upload && `; it is a parameter only if the body is ${fileType}`;
  const fields = [...members].flatMap(([member, { fields: ofMember }]) =>
    [...ofMember].map((field) => [field, `belongs in the body, in ${member}`] as const),
  );
  const inBody = [...members.keys()].map((member) => {
    const isFile = member === upload?.argument;
    return [member, `belongs in the body${isFile ? "" : (otherwise ?? "")}`] as const;
  });
  const inPath = pathParameters(route).map((name) => [name, "is in the path"] as const);
  const ofFile = (upload?.readingOptions ?? []).map(
    (name) => [name, `is a parameter only if the body is ${fileType}`] as const,
  );
  const hint = `The arguments are members of the body: ${[...members.keys()].join(", ")}.`;
  return parameterCheck({ taken: [], elsewhere: new Map([...fields, ...ofFile, ...inPath, ...inBody]), hint });
}

function parameterCheck({ taken, lists = [], elsewhere, hint, ignoresOthers }: ParameterRules): CheckParameters {
  const known = new Set(taken);
  return (search) => {
    const problems = new Problems();
    let isMisplaced = false;
    for (const [name, values] of valuesByName(search)) {
      const place = elsewhere.get(name);
      const path = [clip(name)];
      if (known.has(name)) {
        if (values.length === 1 || lists.includes(name)) continue;
        problems.add({ code: "INVALID_VALUE", message: `${name} is given ${values.length} times, not once.`, path });
      } else if (ignoresOthers === true) {
        continue;
      } else if (place === undefined) {
        problems.add({ code: "UNKNOWN_FIELD", message: `Unknown parameter ${shownValue(name)}. ${hint}`, path });
      } else if (!noneIfEmpty.has(name) || values.length > 1 || values[0] !== "") {
        problems.add({ code: "BAD_REQUEST", message: `${name} ${place}.`, path });
        isMisplaced = true;
      }
    }
    if (problems.total === 0) return;
    const refusal = validationFailed(problems);
    if (!isMisplaced) throw refusal;
    throw new AppError("BAD_REQUEST", refusal.message, { problems: refusal.problems, problemsTotal: problems.total });
  };
}

function valuesByName(search: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(search)) {
    const values = found.get(name);
    if (values === undefined) found.set(name, [value]);
    else values.push(value);
  }
  return found;
}
