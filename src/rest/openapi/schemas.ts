import {
  getNamedType,
  getNullableType,
  type GraphQLInputField,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type GraphQLType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredInputField,
  OperationTypeNode,
} from "graphql";
import { addedFields, fieldConstraints } from "./constraints.js";
import type { JsonSchema, JsonSchemas } from "./types.js";
import { restRoutes } from "../routes.js";

const scalarSchemas: JsonSchemas = {
  String: { type: "string" },
  ID: { type: "string" },
  Int: { type: "integer", format: "int32" },
  Float: { type: "number", format: "double" },
  Boolean: { type: "boolean" },
  DateTime: { type: "string", format: "date-time" },
  PathStep: { type: ["string", "integer"] },
};

/** sofa-api's component schemas without those of the operations, with what it loses of each type's fields. */
export function componentSchemas(derived: JsonSchemas, view: GraphQLSchema): JsonSchemas {
  const roots = new Set([view.getQueryType()?.name, view.getMutationType()?.name, view.getSubscriptionType()?.name]);
  const kept = Object.entries(derived).filter(([name]) => !roots.has(name));
  return Object.fromEntries(kept.map(([name, schema]) => [name, correct(name, schema, view)]));
}

/** The JSON schema of a type, which says where null is allowed. */
export function typeSchema(type: GraphQLType): JsonSchema {
  const schema = nonNullSchema(getNullableType(type));
  if (isNonNullType(type)) return schema;
  if ("$ref" in schema) return { anyOf: [schema, { type: "null" }] };
  const { type: name, enum: values, ...rest } = schema;
  return { type: [name, "null"], ...(Array.isArray(values) && { enum: [...(values as unknown[]), null] }), ...rest };
}

/** The schema of a value in a path or query string, where there is no null. */
export function parameterSchema(type: GraphQLType): JsonSchema {
  const nullable = getNullableType(type);
  return isListType(nullable) ? { type: "array", items: parameterSchema(nullable.ofType) } : nonNullSchema(nullable);
}

function correct(typeName: string, derived: JsonSchema, view: GraphQLSchema): JsonSchema {
  const type = view.getType(typeName);
  if (isObjectType(type)) {
    const fields = Object.values(type.getFields());
    // GraphQL answers with every field that was asked for, be it null: none but those on demand is ever left out.
    const required = fields.map(({ name }) => name).filter((name) => !onDemand(type, view).includes(name));
    return { ...derived, required, properties: { ...propertiesOf(fields), ...addedFields[typeName] } };
  }
  if (!isInputObjectType(type)) return derived;
  const fields = Object.values(type.getFields()).filter(({ name }) => !inPath(type, view).includes(name));
  return {
    ...derived,
    required: fields.filter(isRequiredInputField).map(({ name }) => name),
    properties: propertiesOf(fields, fieldConstraints[typeName]),
    additionalProperties: false, // unknown fields are refused
  };
}

function onDemand(type: GraphQLObjectType, view: GraphQLSchema): readonly string[] {
  return restRoutes.flatMap(({ root, operation, shownOnDemand = [] }) => {
    const field = rootField(view, root, operation);
    return field !== undefined && getNamedType(field.type) === type
      ? shownOnDemand.flatMap(({ fields }) => fields)
      : [];
  });
}

/** The fields of an input type that bodies do not have, because the path does. */
function inPath(type: GraphQLInputObjectType, view: GraphQLSchema): readonly string[] {
  return restRoutes.flatMap(({ root, operation, pathField }) => {
    const arg = pathField && rootField(view, root, operation)?.args.find(({ name }) => name === pathField.member);
    return arg !== undefined && getNamedType(arg.type) === type ? [pathField?.field ?? ""] : [];
  });
}

function rootField(view: GraphQLSchema, root: "Query" | "Mutation", operation: string) {
  const type = view.getRootType(root === "Query" ? OperationTypeNode.QUERY : OperationTypeNode.MUTATION);
  return type?.getFields()[operation];
}

type Field = GraphQLInputField | GraphQLField<unknown, unknown>;

function propertiesOf(fields: readonly Field[], constraints: JsonSchemas = {}): JsonSchemas {
  return Object.fromEntries(
    fields.map(({ name, type, description, deprecationReason }) => [
      name,
      {
        ...typeSchema(type),
        ...(description && { description }),
        ...(deprecationReason && { deprecated: true }),
        ...constraints[name],
      },
    ]),
  );
}

function nonNullSchema(type: GraphQLType): JsonSchema {
  if (isListType(type)) return { type: "array", items: typeSchema(type.ofType) };
  if (isEnumType(type)) return { type: "string", enum: type.getValues().map(({ name }) => name) };
  if (isObjectType(type) || isInputObjectType(type)) return { $ref: `#/components/schemas/${type.name}` };
  const scalar = scalarSchemas[String(type)];
  if (scalar === undefined) throw new Error(`The OpenAPI document cannot tell what ${String(type)} is.`);
  return scalar;
}
