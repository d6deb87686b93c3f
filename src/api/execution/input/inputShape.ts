import {
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isScalarType,
  type OperationDefinitionNode,
  typeFromAST,
} from "graphql";
import type { Path, Problem, Problems } from "../../../errors.js";
import { isObject } from "../../../lib/json/parseJson.js";
import { mustBe } from "../../../lib/mustBe.js";
import { clip } from "../../../lib/text.js";

export type Variables = Readonly<Record<string, unknown>>;

interface ShapeExtensions {
  /** Checks a value of a scalar; must not throw. */
  readonly isValid?: (value: unknown) => boolean;
  readonly valueName?: string;
  /** The most items of a list of an input type. */
  readonly itemsMax?: number;
}

type Check = (value: unknown, options: CheckOptions, place: Place | undefined) => boolean;

export interface InputShape {
  /** Stops at the first problem and allocates nothing. */
  isValid(variables: Variables, arraysOnly: boolean): boolean;
  collect(variables: Variables, arraysOnly: boolean, problems: Problems): void;
}

/**
 * Checks an operation's variables. GraphQL checks the same, but in prose, without paths, and its errors repeat the
 * input: one object with 100,000 unknown fields makes an answer of 68 MB.
 */
export function inputShape(schema: GraphQLSchema, operation: OperationDefinitionNode): InputShape {
  const checks = (operation.variableDefinitions ?? []).flatMap(({ variable, type, defaultValue }) => {
    const inputType = typeFromAST(schema, type as never) as GraphQLInputType | undefined;
    if (inputType === undefined || !isInputType(inputType)) return []; // refused by validation
    const name = variable.name.value;
    const hasDefault = defaultValue !== undefined;
    return { name, hasDefault, place: { step: name, parent: undefined }, check: checkOf(inputType) };
  });
  const walk = (variables: Variables, options: CheckOptions): boolean => {
    let isValid = true;
    for (const { name, hasDefault, place, check } of checks) {
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if ((value === undefined && hasDefault) || check(value, options, place)) continue;
      if (options.problems === undefined) return false;
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
    return (value, options, place) =>
      value === null || value === undefined
        ? report(options, place, "REQUIRED", (name) => `${name} is required.`)
        : check(value, options, place);
  }
  const check = isListType(type)
    ? checkList(type.ofType)
    : isInputObjectType(type)
      ? checkObject(type)
      : checkLeaf(type);
  return (value, options, place) => value === null || value === undefined || check(value, options, place);
}

function checkList(itemType: GraphQLInputType): Check {
  const check = checkOf(itemType);
  const named = isNonNullType(itemType) ? itemType.ofType : itemType;
  const { itemsMax = Infinity }: ShapeExtensions = isInputObjectType(named) ? named.extensions : {};
  return (value, options, place) => {
    if (!Array.isArray(value)) {
      if (!options.arraysOnly) return check(value, options, place);
      return reportType(options, place, "an array", value);
    }
    if (value.length > itemsMax) {
      return report(options, place, "TOO_LONG", (name) => `${name} may have at most ${itemsMax} items.`);
    }
    let isValid = true;
    for (let index = 0; index < value.length; index += 1) {
      const itemPlace = options.problems && { step: index, parent: place };
      if (check(value[index], options, itemPlace)) continue;
      if (options.problems === undefined) return false;
      isValid = false;
    }
    return isValid;
  };
}

function checkObject(type: GraphQLInputObjectType): Check {
  let fields: { name: string; hasDefault: boolean; check: Check }[] | undefined;
  const names = new Set(Object.keys(type.getFields()));
  const fieldsOf = () =>
    Object.values(type.getFields()).map(({ name, type: fieldType, defaultValue }) => ({
      name,
      hasDefault: defaultValue !== undefined,
      check: checkOf(fieldType),
    }));
  return (value, options, place) => {
    if (!isObject(value)) return reportType(options, place, "an object", value);
    fields ??= fieldsOf();
    let isValid = hasOnly(names, value, options, place);
    if (!isValid && options.problems === undefined) return false;
    for (const { name, hasDefault, check } of fields) {
      const field = Object.hasOwn(value, name) ? value[name] : undefined;
      if (field === undefined && hasDefault) continue;
      if (check(field, options, options.problems && { step: name, parent: place })) continue;
      if (options.problems === undefined) return false;
      isValid = false;
    }
    return isValid;
  };
}

function hasOnly(
  names: ReadonlySet<string>,
  value: Variables,
  options: CheckOptions,
  place: Place | undefined,
): boolean {
  let isValid = true;
  for (const name in value) {
    if (names.has(name)) continue;
    isValid = reportUnknownField(options, place, name);
    if (options.problems === undefined) return false;
  }
  return isValid;
}

const intMax = 2 ** 31 - 1;

/** GraphQL's own scalars. */
export const scalarShapes: Readonly<
  Record<string, { readonly name: string; readonly isValid: (value: unknown) => boolean }>
> = {
  String: { name: "a string", isValid: (value) => typeof value === "string" },
  Int: {
    name: "a 32-bit integer",
    isValid: (value) => Number.isInteger(value) && Math.abs(value as number) <= intMax + Number((value as number) < 0),
  },
  Float: { name: "a number", isValid: (value) => Number.isFinite(value) },
  ID: { name: "a string", isValid: (value) => typeof value === "string" || Number.isSafeInteger(value) },
  Boolean: { name: "true or false", isValid: (value) => typeof value === "boolean" },
};

function checkLeaf(type: GraphQLLeafType): Check {
  const isValid = (type.extensions as ShapeExtensions).isValid ?? scalarShapes[type.name]?.isValid;
  const expected = leafName(type);
  const holds = isScalarType(type) ? isValid : (value: unknown) => isEnumValue(type, value);
  if (holds === undefined) throw new Error(`The scalar ${type.name} has no isValid in its extensions.`);
  if (type.name === "ID") return (value, options, place) => holds(value) || reportId(options, place, expected, value);
  return (value, options, place) => holds(value) || reportType(options, place, expected, value);
}

/** An integer that JSON's numbers may have changed would name another object. */
function reportId(options: CheckOptions, place: Place | undefined, expected: string, value: unknown): false {
  if (!Number.isInteger(value)) return reportType(options, place, expected, value);
  const rule = "is an integer beyond 2^53 - 1, which JSON does not keep exactly: send it as a text.";
  return report(options, place, "INVALID_TYPE", (name) => `${name} ${rule}`);
}

/** The name of a type's values in messages. */
export function leafName(type: GraphQLLeafType): string {
  if (isEnumType(type)) return enumName(type);
  return (type.extensions as ShapeExtensions).valueName ?? scalarShapes[type.name]?.name ?? `a valid ${type.name}`;
}

/** The name of its values in messages. */
export function enumName(type: GraphQLEnumType): string {
  return `one of ${type
    .getValues()
    .map(({ name }) => name)
    .join(", ")}`;
}

function isEnumValue(type: GraphQLEnumType, value: unknown): boolean {
  return typeof value === "string" && type.getValue(value) !== undefined;
}

/** Linked backwards: an array is made only for problems that are listed. */
interface Place {
  readonly step: string | number;
  readonly parent: Place | undefined;
}

interface CheckOptions {
  /** GraphQL would accept a single value for a list of one. */
  readonly arraysOnly: boolean;
  /** Collects all problems; without it, the check ends at the first. */
  readonly problems: Problems | undefined;
}

/** @returns false, for the caller to return */
function report(
  options: CheckOptions,
  place: Place | undefined,
  code: Problem["code"],
  message: (name: string) => string,
): false {
  options.problems?.addLazily(() => {
    const path = pathOf(place);
    return { code, message: message(nameOf(path)), path };
  });
  return false;
}

/** A closure over the value, where the value is checked, would be allocated for values that are right too. */
function reportType(options: CheckOptions, place: Place | undefined, rule: string, value: unknown): false {
  return report(options, place, "INVALID_TYPE", (name) => mustBe(name, rule, value));
}

/** @param place of the object that has the field */
function reportUnknownField(options: CheckOptions, place: Place | undefined, name: string): false {
  options.problems?.addLazily(() => unknownField(name, [...pathOf(place), clip(name)]));
  return false;
}

function pathOf(place: Place | undefined): Path {
  const steps: (string | number)[] = [];
  for (let at = place; at !== undefined; at = at.parent) steps.push(at.step);
  return steps.toReversed();
}

export function unknownField(name: string, path: Path): Problem {
  return { code: "UNKNOWN_FIELD", message: `Unknown field ${JSON.stringify(clip(name))}.`, path };
}

/** `["product", "images", 0]` is called `images[0]`. */
function nameOf(path: Path): string {
  const lastName = path.findLastIndex((step) => typeof step === "string");
  return path
    .slice(lastName)
    .map((step) => (typeof step === "number" ? `[${step}]` : step))
    .join("");
}
