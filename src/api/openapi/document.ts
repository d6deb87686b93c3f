import {
  getNamedType,
  type GraphQLArgument,
  type GraphQLNamedType,
  type GraphQLSchema,
  isInputObjectType,
  isRequiredArgument,
} from "graphql";
import { AnswerDescriber } from "./answers/answers.js";
import { type ExampleOfProblem, examplesOfProblems, problemSchemas } from "./answers/problems.js";
import { describeExport, fileParameters, fileSchemas } from "./describeExport.js";
import { requestHeaders, responseHeaders } from "./answers/headers.js";
import { describeResponses, sharedResponses } from "./answers/responses.js";
import { type Components, defaultOf, describeArgument, inputSchema, parameterSchema } from "./schemas.js";
import type { ApiLimits } from "./types.js";
import type { ExportRoute } from "../rest/exports/export.routes.js";
import type { RestOperation } from "../rest/routes/derivation.js";
import { pathParameters, restBase, type RestRoute, takesBody } from "../rest/routes/route.js";
import { packageVersion } from "../../lib/packageFiles.js";
import { describeBody, type OperationSources } from "./bodies.js";
import { parameterConstraints } from "./constraints.js";

export interface ApiSources {
  readonly schema: GraphQLSchema;
  readonly operations: readonly RestOperation[];
  /** The paths that answer with a file. */
  readonly exports?: readonly ExportRoute[];
  readonly limits: ApiLimits;
}

interface ApiDocument extends Readonly<Record<string, unknown>> {
  readonly openapi: string;
  readonly info: object;
}

/**
 * The OpenAPI 3.1 document of the REST paths, without the server's address: of the operations themselves, so that it names
 * what they take and ask for.
 */
export function describeApi({ schema, operations, exports = [], limits }: ApiSources): ApiDocument {
  const exampleOf = examplesOfProblems(limits);
  const components: Components = new Map();
  const answers = new AnswerDescriber(schema, components, operations);
  const ofNamed = (type: GraphQLNamedType) => inputSchema(type, components, operations);
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const path = `${restBase}${operation.path.replaceAll(/:(\w+)/gu, "{$1}")}`;
    const answer = answers.describe(operation);
    const described = describeOperation(operation, { components, limits, answer, ofNamed }, exampleOf);
    (paths[path] ??= {})[operation.method.toLowerCase()] = described;
  }
  for (const route of exports) {
    (paths[`${restBase}${route.path}`] ??= {})["get"] = describeExport(route, limits, exampleOf);
  }
  return {
    openapi: "3.1.0",
    info: describeInfo(),
    tags: describeTags(operations),
    security: [{ accessToken: [] }],
    paths,
    components: {
      securitySchemes: {
        accessToken: {
          type: "apiKey",
          in: "header",
          name: "X-Service-Access-Token",
          description: "An access token of the store (its license key), as `vitrine token issue` prints it.",
        },
      },
      schemas: { ...Object.fromEntries(components), ...fileSchemas, ...problemSchemas },
      headers: responseHeaders,
      responses: sharedResponses(operations, limits, exampleOf),
    },
  };
}

/** Adds the server's address, which is absolute or relative to that of the document. */
export function describeServer(document: ApiDocument, serverUrl: string): object {
  const { openapi, info, ...rest } = document;
  return { openapi, info, servers: [{ url: serverUrl, description: "This server." }], ...rest };
}

const description = `A store's product catalog and the analytics of its live shopping shows.

- Every call needs an access token in the header \`X-Service-Access-Token\`.
- Errors are problem details (RFC 9457). Programs should look at \`code\`, and at \`errors\` for every problem and its place.
- HEAD is supported wherever GET is. Methods that a path does not support return 405 with the header \`Allow\`.
- Responses to GET have an \`ETag\`. With its value as \`If-None-Match\`, the response is 304 without a body while nothing has changed. A 304 counts as a call.
- Large responses are compressed with brotli or gzip if the caller accepts it. Request bodies may be compressed, with \`Content-Encoding\` gzip, deflate or br.
- A call that is refused changes nothing.
- An import with an \`Idempotency-Key\` is executed once, even if it is sent again. Other calls refuse the header.`;

const tagDescriptions: Readonly<Record<RestRoute["tag"], string>> = {
  Products: "Import, retrieve and delete the products of the store's catalog.",
  "Live streams": "List and save the store's live shopping shows, and record what their shoppers do.",
  Orders: "Record the shop's orders, and see for which shows they count and why.",
  Store: "Read the store of the access token.",
  Analytics: "Read how the store's live shopping shows perform.",
};

function describeInfo(): object {
  return {
    title: "Vitrine: product catalog and live shopping analytics",
    version: packageVersion(),
    description,
    license: { name: "MIT", identifier: "MIT" },
  };
}

/** The tags in use, in the order of the routes. */
function describeTags(routes: readonly RestRoute[]): object[] {
  return [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name, description: tagDescriptions[name] }));
}

/** One operation. Its parameters are the arguments of its fields that are not in its body. */
function describeOperation(operation: RestOperation, sources: OperationSources, exampleOf: ExampleOfProblem): object {
  const { limits, answer, ofNamed } = sources;
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
    responses: describeResponses(operation, { ...answer, hasDeprecated }, limits, exampleOf),
  };
}

/** A path parameter is an argument, or the value of a field of the body's input object. */
function describePathParameter(name: string, operation: RestOperation, { ofNamed }: OperationSources) {
  const { pathField, parameters } = operation;
  const argument = parameters.get(pathField?.parameter === name ? pathField.member : name);
  const input = argument && getNamedType(argument.type);
  const described =
    pathField?.parameter === name && isInputObjectType(input) ? input.getFields()[pathField.field] : argument;
  const example = operation.example.parameters?.[name];
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
  { ofNamed }: OperationSources,
) {
  const example = operation.example.parameters?.[name];
  const { firstMax } = argument.extensions;
  return {
    name,
    in: "query",
    required: isRequiredArgument(argument),
    ...describeArgument(argument),
    schema: {
      ...parameterSchema(argument.type, ofNamed),
      ...defaultOf(argument),
      ...parameterConstraints[name],
      ...(firstMax !== undefined && { maximum: firstMax }),
    },
    ...(example !== undefined && { example }),
  };
}
