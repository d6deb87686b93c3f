import { getNamedType, type GraphQLArgument, isInputObjectType, isRequiredArgument } from "graphql";
import type { RestOperation } from "../routes/derivation.js";
import { pathParameters, takesBody } from "../routes/route.js";
import { describeBody, type OperationSources } from "./bodies.js";
import { parameterConstraints } from "./constraints.js";
import { requestHeaders } from "./answers/headers.js";
import { fileParameters } from "./fileParameters.js";
import { describeResponses } from "./answers/responses.js";
import { defaultOf, describeArgument, parameterSchema } from "./schemas.js";

/** One operation: its parameters are the arguments of its fields, but for those that its body has. */
export function describeOperation(operation: RestOperation, sources: OperationSources): object {
  const { limits, examples, answer, ofNamed } = sources;
  const { operationId, summary, tag } = operation;
  const inPath = pathParameters(operation);
  const inQuery = [...operation.parameters].filter(([name]) => !takesBody(operation) && !inPath.includes(name));
  const hasDeprecated = [...operation.parameters.values()].some(({ deprecationReason }) => deprecationReason);
  return {
    operationId,
    summary,
    description: [answer.description ?? summary, ...requestHeaders(operation)].join("\n\n"),
    tags: [tag],
    parameters: [
      ...inPath.map((name) => describePathParameter(name, operation, sources)),
      ...inQuery.map(([name, argument]) => describeQueryParameter(name, argument, operation, sources)),
      ...fileParameters(operation, ofNamed),
    ],
    ...(takesBody(operation) && { requestBody: describeBody(operation, sources) }),
    responses: describeResponses(operation, { ...answer, hasDeprecated }, limits, examples),
  };
}

/** A path parameter is an argument, or the value of a field of the body's input object. */
function describePathParameter(name: string, operation: RestOperation, { examples, ofNamed }: OperationSources) {
  const { pathField, parameters } = operation;
  const argument = parameters.get(pathField?.parameter === name ? pathField.member : name);
  const input = argument && getNamedType(argument.type);
  const described =
    pathField?.parameter === name && isInputObjectType(input) ? input.getFields()[pathField.field] : argument;
  const example = examples.parameter(operation, name);
  return {
    name,
    in: "path",
    required: true,
    ...(described?.description && { description: described.description }),
    schema: described === undefined ? { type: "string" } : parameterSchema(described.type, ofNamed),
    ...(example !== undefined && { example }),
  };
}

function describeQueryParameter(
  name: string,
  argument: GraphQLArgument,
  operation: RestOperation,
  { examples, ofNamed }: OperationSources,
) {
  const example = examples.parameter(operation, name);
  return {
    name,
    in: "query",
    required: isRequiredArgument(argument),
    ...describeArgument(argument),
    schema: { ...parameterSchema(argument.type, ofNamed), ...defaultOf(argument), ...parameterConstraints[name] },
    ...(example !== undefined && { example }),
  };
}
