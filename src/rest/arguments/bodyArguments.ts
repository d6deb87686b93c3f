import {
  getNamedType,
  getNullableType,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputObjectType,
  isListType,
  type OperationDefinitionNode,
  typeFromAST,
} from "graphql";
import { AppError, Problems } from "../../errors.js";
import { unknownField, type Variables } from "../../execution/input/inputShape.js";
import { isObject } from "../../lib/json/parse.js";
import type { JsonBody } from "../../lib/json/body.js";
import { mustBe } from "../../lib/mustBe.js";
import { clip } from "../../lib/text.js";
import type { Sent } from "../../schema/context.js";
import type { RestRoute } from "../routes/route.js";
import { decodeSegment } from "./urlArguments.js";

/** The arguments of a call, and what of its body is not parsed yet. */
export interface Arguments extends Pick<Sent, "unparsed" | "bodyLength" | "frame"> {
  readonly variables: Variables;
  /** Problems with members that are no arguments. */
  readonly problems?: Problems;
}

/** The members that a body may have, each with the fields of its input objects. */
export type BodyMembers = ReadonlyMap<string, { readonly fields: ReadonlySet<string>; readonly isList: boolean }>;

/** @param pathField is no field of its member: the path has it */
export function bodyMembers(
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
 * @throws {AppError} BAD_REQUEST for a body that is not a JSON object
 */
export function bodyArguments(body: JsonBody | undefined, known: BodyMembers): Arguments {
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
 * The arguments with the value of the path in a field of a member, which must not have that field itself.
 *
 * @throws {AppError} BAD_REQUEST for a path parameter that is not UTF-8
 */
export function withPathField(
  args: Arguments,
  { parameter, member, field }: NonNullable<RestRoute["pathField"]>,
  segments: Readonly<Record<string, string>>,
): Arguments {
  const id = decodeSegment(parameter, segments[parameter] ?? "");
  const value: unknown = args.variables[member];
  if (!isObject(value)) return args; // refused as it is
  const problems = args.problems ?? new Problems();
  if (Object.hasOwn(value, field)) {
    const message = `Unknown field "${field}": the path has it.`;
    problems.add({ code: "UNKNOWN_FIELD", message, path: [member, field] });
  }
  return { ...args, variables: { ...args.variables, [member]: { ...value, [field]: id } }, problems };
}

/** An example with the first member, which all bodies of the path have. */
function exampleBody(known: BodyMembers): string {
  const [[member, { fields, isList }] = ["", { fields: new Set(), isList: false }]] = known;
  const value = fields.size === 0 ? '"…"' : "{…}";
  return `{"${member}": ${isList ? `[${value}]` : value}}`;
}

/** Fields that were sent without the member into which they belong are one problem: that this is missing. */
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
