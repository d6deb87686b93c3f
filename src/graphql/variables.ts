import {
  type GraphQLInputType,
  type GraphQLSchema,
  isInputObjectType,
  isInputType,
  isLeafType,
  isListType,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
} from "graphql";
import { type Path, Problems } from "../errors.js";
import { clip } from "../text.js";

export type Variables = Readonly<Record<string, unknown>>;

/** What an input type may carry in its extensions, to name all problems of its values and not those of shape alone. */
type CheckValues = (values: readonly unknown[], pathOf: (index: number) => Path, problems: Problems) => void;

interface Check {
  readonly problems: Problems;
  /** GraphQL takes a single value for a list of one; the REST paths take arrays only. */
  readonly arraysOnly: boolean;
  /** Ask the types that know their values' problems, instead of looking at shape. */
  readonly thorough: boolean;
}

/**
 * Finds what is wrong with the variables of an operation, each problem with its path.
 * GraphQL finds the same when it executes, but tells it in prose, one operation-wide list without paths, and its answer
 * repeats the input: one object with 100,000 unknown fields makes 68 MB.
 */
export function checkVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: Variables,
  { arraysOnly }: Pick<Check, "arraysOnly">,
): Problems {
  const shape = new Problems();
  checkAll(schema, operation, variables, { problems: shape, arraysOnly, thorough: false });
  if (shape.total === 0) return shape;
  const all = new Problems();
  checkAll(schema, operation, variables, { problems: all, arraysOnly, thorough: true });
  return all;
}

function checkAll(schema: GraphQLSchema, operation: OperationDefinitionNode, variables: Variables, check: Check): void {
  for (const { variable, type, defaultValue } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    const inputType = typeFromAST(schema, type as never) as GraphQLInputType | undefined;
    if (inputType === undefined || !isInputType(inputType)) continue; // validation has refused such an operation
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined && defaultValue !== undefined) continue;
    checkValue(inputType, value, [name], check);
  }
}

function checkValue(type: GraphQLInputType, value: unknown, path: Path, check: Check): void {
  const { problems } = check;
  if (value === undefined || value === null) {
    if (isNonNullType(type)) problems.add({ code: "REQUIRED", message: `${nameOf(path)} is required.`, path });
    return;
  }
  const nullable = isNonNullType(type) ? type.ofType : type;
  if (isListType(nullable)) checkList(nullable.ofType, value, path, check);
  else if (isInputObjectType(nullable)) checkObject(nullable, value, path, check);
  else if (isLeafType(nullable)) checkLeaf(nullable, value, path, problems);
}

function checkList(itemType: GraphQLInputType, value: unknown, path: Path, check: Check): void {
  if (!Array.isArray(value)) {
    if (!check.arraysOnly) return checkValue(itemType, value, path, check);
    return check.problems.add({ code: "INVALID_TYPE", message: `${nameOf(path)} must be an array.`, path });
  }
  const checkValues = check.thorough ? valueCheckOf(itemType) : undefined;
  if (checkValues !== undefined) return checkValues(value, (index) => [...path, index], check.problems);
  value.forEach((item: unknown, index) => checkValue(itemType, item, [...path, index], check));
}

function checkObject(type: GraphQLInputType, value: unknown, path: Path, check: Check): void {
  const { problems } = check;
  const checkValues = check.thorough ? valueCheckOf(type) : undefined;
  if (checkValues !== undefined) return checkValues([value], () => path, problems);
  if (typeof value !== "object" || value === null || Array.isArray(value) || !isInputObjectType(type)) {
    return problems.add({ code: "INVALID_TYPE", message: `${nameOf(path)} must be an object.`, path });
  }
  const fields = type.getFields();
  for (const name in value) {
    if (!Object.hasOwn(fields, name)) problems.add(unknownField(name, [...path, clip(name)]));
  }
  for (const name in fields) {
    const field = fields[name];
    if (field === undefined) continue;
    const fieldValue = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    if (fieldValue === undefined && field.defaultValue !== undefined) continue;
    checkValue(field.type, fieldValue, [...path, name], check);
  }
}

function checkLeaf(
  type: { parseValue(value: unknown): unknown; name: string },
  value: unknown,
  path: Path,
  problems: Problems,
): void {
  try {
    type.parseValue(value);
  } catch {
    problems.add({
      code: "INVALID_TYPE",
      message: `${nameOf(path)} must be ${leafNames[type.name] ?? `a valid ${type.name}`}.`,
      path,
    });
  }
}

const leafNames: Readonly<Record<string, string>> = {
  String: "a string",
  Int: "an integer of 32 bits",
  Float: "a number",
  Boolean: "true or false",
  DateTime: "an ISO 8601 timestamp with a time zone",
};

/** A problem of a field that nobody knows. */
export function unknownField(name: string, path: Path) {
  return { code: "UNKNOWN_FIELD" as const, message: `There is no field ${JSON.stringify(clip(name))} here.`, path };
}

function valueCheckOf(type: GraphQLInputType): CheckValues | undefined {
  const named = isNonNullType(type) ? type.ofType : type;
  return isInputObjectType(named) ? (named.extensions["problems"] as CheckValues | undefined) : undefined;
}

/** `["product", "images", 0]` is spoken of as `images[0]`. */
function nameOf(path: Path): string {
  const lastName = path.findLastIndex((step) => typeof step === "string");
  return path
    .slice(lastName)
    .map((step) => (typeof step === "number" ? `[${step}]` : step))
    .join("");
}
