import {
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isScalarType,
  type OperationDefinitionNode,
  typeFromAST,
} from "graphql";
import type { Path, Problem, Problems } from "../errors.js";
import { clip } from "../lib/text.js";

export type Variables = Readonly<Record<string, unknown>>;

/** What types may carry in their extensions. */
interface ShapeExtensions {
  /** Of a scalar: whether a value is one, told without throwing, and what it is called in messages. */
  readonly isValid?: (value: unknown) => boolean;
  readonly valueName?: string;
  /** Of an input type: items that a list of them may have. */
  readonly itemsMax?: number;
}

/** Where a value stands: the way back to the variable. Paths are made of it only for problems that are listed. */
interface Place {
  readonly step: string | number;
  readonly parent: Place | undefined;
}

/** How values are looked at. */
interface Look {
  /** GraphQL takes a single value for a list of one; the REST paths take arrays only. */
  readonly arraysOnly: boolean;
  /** Where problems go. Without it, looking ends at the first. */
  readonly problems: Problems | undefined;
}

/** Whether a value has the shape of a type. With somewhere for problems to go, all of them are found. */
type Check = (value: unknown, look: Look, place: Place | undefined) => boolean;

/** Checks the variables of an operation. */
export interface InputShape {
  /** Whether they have the shape that it wants: it stops at the first that has not, and makes nothing. */
  isValid(variables: Variables, arraysOnly: boolean): boolean;
  /** Names what is wrong, each problem with its path. */
  collect(variables: Variables, arraysOnly: boolean, problems: Problems): void;
}

/**
 * The shape that an operation wants of its variables. GraphQL finds the same when it executes, but tells it in prose, without
 * paths, and its answer repeats the input: one object with 100,000 unknown fields makes 68 MB.
 */
export function inputShape(schema: GraphQLSchema, operation: OperationDefinitionNode): InputShape {
  const checks = (operation.variableDefinitions ?? []).flatMap(({ variable, type, defaultValue }) => {
    const inputType = typeFromAST(schema, type as never) as GraphQLInputType | undefined;
    if (inputType === undefined || !isInputType(inputType)) return []; // validation has refused such an operation
    const name = variable.name.value;
    const hasDefault = defaultValue !== undefined;
    return { name, hasDefault, place: { step: name, parent: undefined }, check: checkOf(inputType) };
  });
  const walk = (variables: Variables, look: Look): boolean => {
    let isValid = true;
    for (const { name, hasDefault, place, check } of checks) {
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if ((value === undefined && hasDefault) || check(value, look, place)) continue;
      if (look.problems === undefined) return false;
      isValid = false;
    }
    return isValid;
  };
  return {
    isValid: (variables, arraysOnly) => walk(variables, { arraysOnly, problems: undefined }),
    collect: (variables, arraysOnly, problems) => void walk(variables, { arraysOnly, problems }),
  };
}

const known = new WeakMap<GraphQLInputType, Check>();

function checkOf(type: GraphQLInputType): Check {
  let check = known.get(type);
  if (check === undefined) known.set(type, (check = makeCheck(type)));
  return check;
}

function makeCheck(type: GraphQLInputType): Check {
  if (isNonNullType(type)) {
    const check = checkOf(type.ofType);
    return (value, look, place) =>
      value === null || value === undefined
        ? report(look, place, "REQUIRED", (name) => `${name} is required.`)
        : check(value, look, place);
  }
  const check = isListType(type)
    ? checkList(type.ofType)
    : isInputObjectType(type)
      ? checkObject(type)
      : checkLeaf(type);
  return (value, look, place) => value === null || value === undefined || check(value, look, place);
}

function checkList(itemType: GraphQLInputType): Check {
  const check = checkOf(itemType);
  const named = isNonNullType(itemType) ? itemType.ofType : itemType;
  const { itemsMax = Infinity }: ShapeExtensions = isInputObjectType(named) ? named.extensions : {};
  return (value, look, place) => {
    if (!Array.isArray(value)) {
      if (!look.arraysOnly) return check(value, look, place);
      return report(look, place, "INVALID_TYPE", (name) => `${name} must be an array.`);
    }
    if (value.length > itemsMax) {
      return report(look, place, "TOO_LONG", (name) => `${name} may have at most ${itemsMax} items.`);
    }
    let isValid = true;
    for (let index = 0; index < value.length; index += 1) {
      const itemPlace = look.problems && { step: index, parent: place };
      if (check(value[index], look, itemPlace)) continue;
      if (look.problems === undefined) return false;
      isValid = false;
    }
    return isValid;
  };
}

function checkObject(type: GraphQLInputObjectType): Check {
  // Worked out at first use, because a type's fields may lead back to it.
  let fields: Map<string, { name: string; hasDefault: boolean; check: Check }> | undefined;
  const fieldsOf = () =>
    new Map(
      Object.values(type.getFields()).map(({ name, type: fieldType, defaultValue }) => [
        name,
        { name, hasDefault: defaultValue !== undefined, check: checkOf(fieldType) },
      ]),
    );
  return (value, look, place) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return report(look, place, "INVALID_TYPE", (name) => `${name} must be an object.`);
    }
    fields ??= fieldsOf();
    let isValid = true;
    for (const name in value) {
      if (fields.has(name)) continue;
      if (look.problems === undefined) return false;
      isValid = false;
      look.problems.addLazily(() => unknownField(name, [...pathOf(place), clip(name)]));
    }
    for (const { name, hasDefault, check } of fields.values()) {
      const field = Object.hasOwn(value, name) ? (value as Variables)[name] : undefined;
      if (field === undefined && hasDefault) continue;
      if (check(field, look, look.problems && { step: name, parent: place })) continue;
      if (look.problems === undefined) return false;
      isValid = false;
    }
    return isValid;
  };
}

const intMax = 2 ** 31 - 1;

/** What values of GraphQL's own scalars are called in messages, and which they are. */
export const scalarShapes: Readonly<
  Record<string, { readonly name: string; readonly isValid: (value: unknown) => boolean }>
> = {
  String: { name: "a string", isValid: (value) => typeof value === "string" },
  Int: {
    name: "a 32-bit integer",
    isValid: (value) => Number.isInteger(value) && Math.abs(value as number) <= intMax + Number((value as number) < 0),
  },
  Float: { name: "a number", isValid: (value) => Number.isFinite(value) },
  ID: { name: "a string", isValid: (value) => typeof value === "string" || Number.isInteger(value) },
  Boolean: { name: "true or false", isValid: (value) => typeof value === "boolean" },
};

function checkLeaf(type: GraphQLScalarType | GraphQLEnumType): Check {
  const builtIn = scalarShapes[type.name];
  const extensions = type.extensions as ShapeExtensions;
  const isValid = extensions.isValid ?? builtIn?.isValid;
  const mustBe = extensions.valueName ?? builtIn?.name ?? `a valid ${type.name}`;
  const holds = isScalarType(type) ? isValid : (value: unknown) => isEnumValue(type, value);
  if (holds === undefined) throw new Error(`The scalar ${type.name} has no isValid in its extensions.`);
  return (value, look, place) =>
    holds(value) || report(look, place, "INVALID_TYPE", (name) => `${name} must be ${mustBe}.`);
}

function isEnumValue(type: GraphQLEnumType, value: unknown): boolean {
  return typeof value === "string" && type.getValue(value) !== undefined;
}

/** @returns false, for the caller to return */
function report(look: Look, place: Place | undefined, code: Problem["code"], message: (name: string) => string): false {
  look.problems?.addLazily(() => {
    const path = pathOf(place);
    return { code, message: message(nameOf(path)), path };
  });
  return false;
}

function pathOf(place: Place | undefined): Path {
  const steps: (string | number)[] = [];
  for (let at = place; at !== undefined; at = at.parent) steps.push(at.step);
  return steps.toReversed();
}

/** A problem of a field that nobody knows. */
export function unknownField(name: string, path: Path): Problem {
  return { code: "UNKNOWN_FIELD", message: `There is no field ${JSON.stringify(clip(name))} here.`, path };
}

/** `["product", "images", 0]` is spoken of as `images[0]`. */
function nameOf(path: Path): string {
  const lastName = path.findLastIndex((step) => typeof step === "string");
  return path
    .slice(lastName)
    .map((step) => (typeof step === "number" ? `[${step}]` : step))
    .join("");
}
