import type { GraphQLSchema } from "graphql";
import { documentExamples } from "./examples.js";
import { describeExport } from "./exports.js";
import { describeInfo, describeTags } from "./info.js";
import { describeOperation } from "./operations.js";
import { problemSchemas } from "./problems.js";
import { responseHeaders } from "./headers.js";
import { sharedResponses } from "./responses.js";
import { componentSchemas } from "./schemas.js";
import type { ApiLimits, DerivedDocument } from "./types.js";
import type { ExportRoute } from "../exports.routes.js";
import { restBase, type RestRoute } from "../routes.js";

export interface ApiSources {
  readonly derived: object;
  /** The schema as REST shows it, for nullability and deprecations, which sofa-api loses. */
  readonly view: GraphQLSchema;
  readonly routes: readonly RestRoute[];
  /** The paths that answer with a whole catalog. */
  readonly exports?: readonly ExportRoute[];
  readonly limits: ApiLimits;
}

interface ApiDocument extends Readonly<Record<string, unknown>> {
  readonly openapi: string;
  readonly info: object;
}

/** The OpenAPI 3.1 document of the REST paths: sofa-api's, corrected, without the server's address. A new route needs an example in examples.ts. */
export function describeApi({ derived, view, routes, exports = [], limits }: ApiSources): ApiDocument {
  const base = derived as DerivedDocument; // sofa-api's shape; operations are looked up with a check
  const examples = documentExamples(limits);
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/gu, "{$1}");
    const operation = base.paths[path]?.[route.method.toLowerCase()];
    if (operation === undefined) throw new Error(`sofa-api describes no ${route.method} ${route.path}.`);
    const described = describeOperation(operation, { route, view, limits, examples });
    (paths[`${restBase}${path}`] ??= {})[route.method.toLowerCase()] = described;
  }
  for (const route of exports) {
    (paths[`${restBase}${route.path}`] ??= {})["get"] = describeExport(route, limits, examples);
  }
  return {
    openapi: "3.1.0",
    info: describeInfo(),
    tags: describeTags(routes),
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
      schemas: { ...componentSchemas(base.components.schemas, view), ...problemSchemas },
      headers: responseHeaders,
      responses: sharedResponses(routes, limits, examples),
    },
  };
}

/** The document with the address of the server, which is absolute or relative to that of the document. */
export function describeServer(document: ApiDocument, serverUrl: string): object {
  const { openapi, info, ...rest } = document;
  return { openapi, info, servers: [{ url: serverUrl, description: "This server." }], ...rest };
}
