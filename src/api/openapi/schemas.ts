import {
  getNullableType,
  type GraphQLArgument,
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  type GraphQLType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from "graphql";
import type { RestOperation } from "../rest/routes/derivation.js";
import { fieldConstraints, partialProduct } from "./constraints.js";
import type { JsonSchema, JsonSchemas } from "./types.js";

const scalarSchemas: JsonSchemas = {
  String: { type: "string" },
  ID: { type: "string" },
  Int: { type: "integer", format: "int32" },
  Float: { type: "number", format: "double" },
  Boolean: { type: "boolean" },
  DateTime: { type: "string", format: "date-time" },
  PathStep: { type: ["string", "integer"] },
};

/** The named schemas of the document. They are added when they are first referred to. */
export type Components = Map<string, JsonSchema>;

/** Refers to a schema of the document, and makes it at its first use. */
export function named(components: Components, name: string, make: () => JsonSchema): JsonSchema {
  if (!components.has(name)) {
    components.set(name, {}); // reserves its place before the schemas within it
    components.set(name, make());
  }
  return { $ref: `#/components/schemas/${name}` };
}

/** The JSON schema of a type, including where null is allowed. */
export function typeSchema(type: GraphQLType, ofNamed: (named: GraphQLNamedType) => JsonSchema): JsonSchema {
  const nullable = getNullableType(type);
  const schema = isListType(nullable)
    ? { type: "array", items: typeSchema(nullable.ofType, ofNamed) }
    : ofNamed(nullable as GraphQLNamedType); // neither a list nor non-null
  return isNonNullType(type) ? schema : orNull(schema);
}

function orNull(schema: JsonSchema): JsonSchema {
  if (schema["$ref"] !== undefined) return { anyOf: [schema, { type: "null" }] };
  const { type, ...rest } = schema;
  return { type: [type, "null"], ...rest };
}

/** The schema of a scalar, enum or input object. Scalars are inline; enums and input objects are named. */
export function inputSchema(
  type: GraphQLNamedType,
  components: Components,
  operations: readonly RestOperation[],
): JsonSchema {
  if (isEnumType(type)) return named(components, type.name, () => enumSchema(type));
  if (isInputObjectType(type)) {
    return named(components, type.name, () => objectSchema(type, components, operations));
  }
  const scalar = scalarSchemas[type.name];
  if (scalar === undefined) throw new Error(`The OpenAPI document has no schema for ${type.name}.`);
  return scalar;
}

/** The input object with all fields optional, except that one must say which product it is. */
export function partialSchema(whole: JsonSchema): JsonSchema {
  const { required: _, description: __, ...rest } = whole;
  return { description: partialProduct, ...rest, anyOf: [{ required: ["id"] }, { required: ["sku"] }] };
}

/** The schema of a value in a path or query string, where null cannot be written. */
export function parameterSchema(type: GraphQLType, ofNamed: (named: GraphQLNamedType) => JsonSchema): JsonSchema {
  const nullable = getNullableType(type);
  return isListType(nullable)
    ? { type: "array", items: parameterSchema(nullable.ofType, ofNamed) }
    : ofNamed(nullable as GraphQLNamedType); // neither a list nor non-null
}

/** The default of an argument as JSON. */
export function defaultOf({ defaultValue, type }: GraphQLArgument): { readonly default?: unknown } {
  if (defaultValue === undefined || defaultValue === null) return {};
  const nullable = getNullableType(type);
  return { default: isEnumType(nullable) ? nullable.serialize(defaultValue) : defaultValue };
}

export function describeArgument({ description, deprecationReason }: GraphQLArgument) {
  const text = [description, deprecationReason && `Deprecated: ${deprecationReason}`].filter(Boolean).join(" ");
  return { ...(text !== "" && { description: text }), ...(deprecationReason && { deprecated: true }) };
}

export function describeMember({ description, deprecationReason }: GraphQLField<unknown, unknown> | GraphQLInputField) {
  return { ...(description && { description }), ...(deprecationReason && { deprecated: true }) };
}

function enumSchema(type: GraphQLEnumType): JsonSchema {
  const { description } = type;
  return { type: "string", ...(description && { description }), enum: type.getValues().map(({ name }) => name) };
}

function objectSchema(
  type: GraphQLInputObjectType,
  components: Components,
  operations: readonly RestOperation[],
): JsonSchema {
  const fields = Object.values(type.getFields()).filter(({ name }) => !isInPath(type, name, operations));
  const constraints = fieldConstraints[type.name] ?? {};
  const properties = fields.map((field) => [
    field.name,
    {
      ...typeSchema(field.type, (inner) => inputSchema(inner, components, operations)),
      ...describeMember(field),
      ...constraints[field.name],
    },
  ]);
  return {
    type: "object",
    ...(type.description && { description: type.description }),
    required: fields.filter(isRequiredInputField).map(({ name }) => name),
    properties: Object.fromEntries(properties) as JsonSchemas,
    additionalProperties: false, // unknown fields are refused
  };
}

/** Whether a field of an input type is in the path, and so not in bodies. */
function isInPath(type: GraphQLInputObjectType, name: string, operations: readonly RestOperation[]): boolean {
  return operations.some(({ pathField, parameters }) => {
    const argument = pathField && parameters.get(pathField.member);
    return argument !== undefined && getNullableType(argument.type) === type && pathField?.field === name;
  });
}
