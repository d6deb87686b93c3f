import type { GraphQLNamedType, GraphQLSchema } from "graphql";
import { AnswerDescriber } from "./answers/answers.js";
import { documentExamples } from "./examples/examples.js";
import { describeExport } from "./describeExport.js";
import { describeInfo, describeTags } from "./info.js";
import { describeOperation } from "./describeOperation.js";
import { fileSchemas } from "./fileParameters.js";
import { problemSchemas } from "./answers/problems.js";
import { responseHeaders } from "./answers/headers.js";
import { sharedResponses } from "./answers/responses.js";
import { type Components, inputSchema } from "./schemas.js";
import type { ApiLimits } from "./types.js";
import type { ExportRoute } from "../exports/export.routes.js";
import type { RestOperation } from "../routes/derivation.js";
import { restBase } from "../routes/route.js";

export interface ApiSources {
  readonly schema: GraphQLSchema;
  readonly operations: readonly RestOperation[];
  /** The paths that answer with a whole catalog. */
  readonly exports?: readonly ExportRoute[];
  readonly limits: ApiLimits;
}

interface ApiDocument extends Readonly<Record<string, unknown>> {
  readonly openapi: string;
  readonly info: object;
}

/**
 * The OpenAPI 3.1 document of the REST paths, without the server's address: of the operations themselves, so that it names
 * what they take and ask for. A new route needs an example in examples.ts.
 */
export function describeApi({ schema, operations, exports = [], limits }: ApiSources): ApiDocument {
  const examples = documentExamples(limits);
  const components: Components = new Map();
  const answers = new AnswerDescriber(schema, components, operations);
  const ofNamed = (type: GraphQLNamedType) => inputSchema(type, components, operations);
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const path = `${restBase}${operation.path.replaceAll(/:(\w+)/gu, "{$1}")}`;
    const answer = answers.describe(operation);
    const described = describeOperation(operation, { components, limits, examples, answer, ofNamed });
    (paths[path] ??= {})[operation.method.toLowerCase()] = described;
  }
  for (const route of exports) {
    (paths[`${restBase}${route.path}`] ??= {})["get"] = describeExport(route, limits, examples);
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
      responses: sharedResponses(operations, limits, examples),
    },
  };
}

/** The document with the address of the server, which is absolute or relative to that of the document. */
export function describeServer(document: ApiDocument, serverUrl: string): object {
  const { openapi, info, ...rest } = document;
  return { openapi, info, servers: [{ url: serverUrl, description: "This server." }], ...rest };
}
