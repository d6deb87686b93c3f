import {
  type GraphQLInputType,
  type GraphQLSchema,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
} from "graphql";
import type { Variables } from "./variables.js";

/** Whether a value is sound for a type. `arraysOnly`: a list must come as an array. */
type Sound = (value: unknown, arraysOnly: boolean) => boolean;

/**
 * The quick answer to what checkVariables finds out: whether variables have the shape that an operation wants. It makes
 * nothing and names nothing, since nearly all variables are sound, and an import's may hold a million values.
 */
export function soundVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
): (variables: Variables, arraysOnly: boolean) => boolean {
  const checks = (operation.variableDefinitions ?? []).flatMap(({ variable, type, defaultValue }) => {
    const inputType = typeFromAST(schema, type as never) as GraphQLInputType | undefined;
    if (inputType === undefined || !isInputType(inputType)) return []; // validation has refused such an operation
    return { name: variable.name.value, sound: soundness(inputType), hasDefault: defaultValue !== undefined };
  });
  return (variables, arraysOnly) => {
    for (const { name, sound, hasDefault } of checks) {
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (!(value === undefined && hasDefault) && !sound(value, arraysOnly)) return false;
    }
    return true;
  };
}

/** Whether a value has the shape of a type. */
export function isSoundValue(type: GraphQLInputType, value: unknown, arraysOnly: boolean): boolean {
  return soundness(type)(value, arraysOnly);
}

const known = new WeakMap<GraphQLInputType, Sound>();

function soundness(type: GraphQLInputType): Sound {
  let sound = known.get(type);
  if (sound === undefined) known.set(type, (sound = makeSoundness(type)));
  return sound;
}

function makeSoundness(type: GraphQLInputType): Sound {
  if (isNonNullType(type)) {
    const sound = soundness(type.ofType);
    return (value, arraysOnly) => value !== null && value !== undefined && sound(value, arraysOnly);
  }
  const sound = isListType(type)
    ? listSoundness(type.ofType)
    : isInputObjectType(type)
      ? objectSoundness(type)
      : leafSoundness(type);
  return (value, arraysOnly) => value === null || value === undefined || sound(value, arraysOnly);
}

function listSoundness(itemType: GraphQLInputType): Sound {
  const sound = soundness(itemType);
  return (value, arraysOnly) => {
    if (!Array.isArray(value)) return !arraysOnly && sound(value, arraysOnly);
    for (const item of value) if (!sound(item, arraysOnly)) return false;
    return true;
  };
}

function objectSoundness(type: {
  getFields(): Readonly<Record<string, { name: string; type: GraphQLInputType; defaultValue?: unknown }>>;
}): Sound {
  // Worked out at first use, because a type's fields may lead back to it.
  let fields: Map<string, { name: string; hasDefault: boolean; sound: Sound }> | undefined;
  const fieldsOf = () =>
    new Map(
      Object.values(type.getFields()).map(({ name, type: fieldType, defaultValue }) => [
        name,
        { name, hasDefault: defaultValue !== undefined, sound: soundness(fieldType) },
      ]),
    );
  return (value, arraysOnly) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    fields ??= fieldsOf();
    for (const name in value) if (!fields.has(name)) return false;
    for (const { name, hasDefault, sound } of fields.values()) {
      const field = Object.hasOwn(value, name) ? (value as Variables)[name] : undefined;
      if (!(field === undefined && hasDefault) && !sound(field, arraysOnly)) return false;
    }
    return true;
  };
}

function leafSoundness(type: { readonly name: string; parseValue(value: unknown): unknown }): Sound {
  if (type.name === "String") return (value) => typeof value === "string";
  if (type.name === "Boolean") return (value) => typeof value === "boolean";
  if (type.name === "Float") return (value) => Number.isFinite(value);
  return (value) => {
    try {
      type.parseValue(value);
      return true;
    } catch {
      return false;
    }
  };
}
