import {
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLSchema,
  isInputObjectType,
  isRequiredArgument,
} from "graphql";
import { requestHeaders } from "./headers.js";
import { argumentConstraints, parameterConstraints } from "./constraints.js";
import { csvExample, eventsNdjsonExample, ndjsonExample } from "./exampleData.js";
import type { Examples } from "./examples.js";
import { fileParameters } from "./parameters.js";
import { describeResponses } from "./responses.js";
import { parameterSchema, typeSchema } from "./schemas.js";
import type { ApiLimits, DerivedOperation, DerivedParameter, JsonSchema } from "./types.js";
import { type RestRoute, takesBody } from "../routes.js";

export interface OperationSources {
  readonly route: RestRoute;
  readonly view: GraphQLSchema;
  readonly limits: ApiLimits;
  readonly examples: Examples;
}

type RootField = GraphQLField<unknown, unknown>;

/** One operation: sofa-api's, completed, and of the query parameters that it adds where there is a body only those beside a file. */
export function describeOperation(
  derived: DerivedOperation,
  { route, view, limits, examples }: OperationSources,
): object {
  const field = rootField(view, route);
  const parameters = (derived.parameters ?? []).filter((parameter) => !takesBody(route) || parameter.in === "path");
  const success = { schema: typeSchema(field.type), description: getNamedType(field.type).description ?? "Done." };
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: [field.description ?? route.summary, ...requestHeaders(route)].join("\n\n"),
    tags: [route.tag],
    parameters: [
      ...describePathField(route, view, examples),
      ...parameters.map((parameter) =>
        describeParameter(parameter, argumentOf(field, parameter.name), { route, examples }),
      ),
      ...fileParameters(route, field.args),
    ],
    ...(takesBody(route) && {
      requestBody: describeBody(derived, field, { limits, example: examples.request(route), route }),
    }),
    responses: describeResponses(route, success, limits, examples),
  };
}

/** The path parameter whose value is a field of the body's input object. */
function describePathField(route: RestRoute, view: GraphQLSchema, examples: Examples) {
  const { pathField } = route;
  if (pathField === undefined) return [];
  const { parameter, member, field } = pathField;
  const type = getNamedType(argumentOf(rootField(view, route), member).type);
  const description = isInputObjectType(type) ? type.getFields()[field]?.description : undefined;
  const example = examples.parameter(route, parameter);
  const schema = { type: "string" };
  return [{ name: parameter, in: "path", required: true, ...(description && { description }), schema, example }];
}

function describeParameter(
  { name, in: place, required }: DerivedParameter,
  argument: GraphQLArgument,
  { route, examples }: Pick<OperationSources, "route" | "examples">,
) {
  const example = examples.parameter(route, name);
  return {
    name,
    in: place,
    required,
    ...describeArgument(argument),
    schema: { ...parameterSchema(argument.type), ...parameterConstraints[name] },
    ...(example !== undefined && { example }),
  };
}

function describeBody(
  { requestBody }: DerivedOperation,
  field: RootField,
  { limits, example, route }: { limits: ApiLimits; example: unknown; route: RestRoute },
) {
  const constraints = argumentConstraints(limits);
  const names = Object.keys(
    (requestBody?.content["application/json"]?.schema["properties"] as object | undefined) ?? {},
  );
  const members = names.filter((name) => !route.path.includes(`:${name}`)).map((name) => argumentOf(field, name));
  // siteId and siteType come first in the documented bodies.
  const documented = [
    ...members.filter((member) => !isRequiredArgument(member)),
    ...members.filter(isRequiredArgument),
  ];
  const property = (argument: GraphQLArgument): JsonSchema => ({
    ...typeSchema(argument.type),
    ...describeArgument(argument),
    ...(argument.defaultValue !== undefined && { default: argument.defaultValue }),
    ...constraints[argument.name],
  });
  const schema = {
    type: "object",
    required: members.filter(isRequiredArgument).map(({ name }) => name),
    properties: Object.fromEntries(documented.map((argument) => [argument.name, property(argument)])),
    additionalProperties: false, // unknown members are refused
  };
  const json = { schema, ...(example !== undefined && { example }) };
  return { required: true, content: { "application/json": json, ...fileContent(route) } };
}

const fileExamples: Readonly<Record<string, string>> = {
  "text/csv": csvExample,
  "application/x-ndjson": ndjsonExample,
};

function fileContent({ upload, batches }: RestRoute): Record<string, object> {
  const [mediaType] = (upload ?? batches)?.mediaTypes ?? [];
  if (mediaType === undefined) return {};
  const example = batches === undefined ? fileExamples[mediaType] : eventsNdjsonExample;
  return { [mediaType]: { schema: { type: "string" }, example } };
}

function describeArgument({ description, deprecationReason }: GraphQLArgument) {
  const text = [description, deprecationReason && `Deprecated: ${deprecationReason}`].filter(Boolean).join(" ");
  return { ...(text !== "" && { description: text }), ...(deprecationReason && { deprecated: true }) };
}

function rootField(view: GraphQLSchema, { root, operation }: RestRoute): RootField {
  const type = root === "Query" ? view.getQueryType() : view.getMutationType();
  const field = type?.getFields()[operation];
  if (field === undefined) throw new Error(`The schema has no ${root}.${operation}.`);
  return field;
}

function argumentOf({ name: operation, args }: RootField, name: string): GraphQLArgument {
  const argument = args.find((candidate) => candidate.name === name);
  if (argument === undefined) throw new Error(`${operation} has no argument ${name}.`);
  return argument;
}
