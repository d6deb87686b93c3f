import {
  getNamedType,
  type GraphQLArgument,
  type GraphQLNamedType,
  isInputObjectType,
  isRequiredArgument,
} from "graphql";
import type { RestOperation } from "../rest/routes/derivation.js";
import { pathParameters } from "../rest/routes/route.js";
import { type AnswerSchema, capital } from "./answers/answers.js";
import { argumentConstraints, importModes } from "./constraints.js";
import { csvExample, eventsNdjsonExample, ordersNdjsonExample, ndjsonExample } from "../rest/routes/exampleData.js";
import { type Components, defaultOf, describeArgument, named, partialSchema, typeSchema } from "./schemas.js";
import type { ApiLimits, JsonSchema, JsonSchemas } from "./types.js";

export interface OperationSources {
  readonly components: Components;
  readonly limits: ApiLimits;
  readonly answer: AnswerSchema;
  readonly ofNamed: (type: GraphQLNamedType) => JsonSchema;
}

/** The body of an operation: a JSON object of the arguments that are not in its path, or a file. */
export function describeBody(operation: RestOperation, sources: OperationSources): object {
  const schema = named(sources.components, `${capital(operation.operationId)}Body`, () =>
    bodySchema(operation, sources),
  );
  const example = operation.example.request;
  const json = { schema, ...(example !== undefined && { example }) };
  return { required: true, content: { "application/json": json, ...fileContent(operation) } };
}

function bodySchema(operation: RestOperation, { components, limits, ofNamed }: OperationSources): JsonSchema {
  const inPath = pathParameters(operation);
  const members = [...operation.parameters].filter(([name]) => !inPath.includes(name));
  // siteId and siteType come first in the documented bodies.
  const isRequired = ([, argument]: (typeof members)[number]) => isRequiredArgument(argument);
  const ordered = [...members.filter((member) => !isRequired(member)), ...members.filter(isRequired)];
  const required = members.filter(isRequired).map(([name]) => name);
  const constraints = argumentConstraints(limits);
  const property = (name: string, argument: GraphQLArgument, of: typeof ofNamed): JsonSchema => ({
    ...typeSchema(argument.type, of),
    ...describeWithDefault(argument),
    ...constraints[name],
  });
  const propertiesOf = (of: typeof ofNamed, omitted: readonly string[] = []): JsonSchemas =>
    Object.fromEntries(
      ordered
        .filter(([name]) => !omitted.includes(name))
        .map(([name, argument]) => [name, property(name, argument, of)]),
    );
  if (!operation.parameters.has("mode")) return closedObject(propertiesOf(ofNamed), required);
  const ofPartial = (type: GraphQLNamedType): JsonSchema => {
    const whole = ofNamed(type);
    if (type.name !== "ProductInput") return whole;
    return named(components, "ProductPatch", () => partialSchema(components.get(type.name) ?? {}));
  };
  return {
    anyOf: importModes.map(({ mode, omitted = [], isPartial = false }) => {
      const properties = propertiesOf(isPartial ? ofPartial : ofNamed, omitted);
      const { description } = properties["mode"] ?? {};
      return closedObject({ ...properties, mode: { ...mode, description } }, [
        ...(mode["type"] === "string" ? ["mode"] : []),
        ...required,
      ]);
    }),
  };
}

/** Describes the default in words, because openapi-typescript makes members with a default required. */
function describeWithDefault(argument: GraphQLArgument) {
  const { description, ...others } = describeArgument(argument);
  const { default: byDefault } = defaultOf(argument);
  const text = [description, byDefault !== undefined && `By default ${JSON.stringify(byDefault)}.`]
    .filter(Boolean)
    .join(" ");
  return { ...others, ...(text !== "" && { description: text }) };
}

function closedObject(properties: JsonSchemas, required: readonly string[]): JsonSchema {
  return { type: "object", required, properties, additionalProperties: false }; // unknown members are refused
}

const fileExamples: Readonly<Record<string, string>> = {
  "text/csv": csvExample,
  "application/x-ndjson": ndjsonExample,
};

/** By the argument whose items are on the lines. */
const linesExamples: Readonly<Record<string, string>> = { events: eventsNdjsonExample, orders: ordersNdjsonExample };

function fileContent({ upload, batches, parameters }: RestOperation): Record<string, object> {
  const [mediaType] = (upload ?? batches)?.mediaTypes ?? [];
  if (mediaType === undefined) return {};
  const example = batches === undefined ? fileExamples[mediaType] : linesExamples[batches.argument];
  const item = getNamedType(parameters.get((upload ?? batches)?.argument ?? "")?.type);
  const lines = isInputObjectType(item) && { description: `On each line, one \`${item.name}\` as JSON.` };
  return { [mediaType]: { schema: { type: "string", ...lines }, example } };
}
