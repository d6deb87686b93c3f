import type { DocumentNode, GraphQLSchema } from "graphql";
import { useSofa } from "sofa-api";
import { restBase, restRoutes, type RestRoute } from "./routes.js";

/** A documented path with the GraphQL operation that sofa-api derived for it. */
export interface RestOperation extends RestRoute {
  readonly document: DocumentNode;
  readonly operationName: string;
}

/** What sofa-api makes of the schema's view: an operation for each documented path, and a first OpenAPI document. */
export interface RestPlan {
  readonly operations: readonly RestOperation[];
  readonly openApi: object;
}

type Derived = Pick<RestOperation, "document" | "operationName">;
type SofaConfig = Parameters<typeof useSofa>[0];

/**
 * Derives the REST paths, once, at start. sofa-api builds an operation for each route; here it is asked for each route
 * once, with an `execute` that keeps the operation. Requests then run it by themselves (rest/handler.ts), because sofa's
 * own handler lets the query string override the body, coerces what it reads (5 becomes "5"), has no body limit,
 * serves /webhook, and answers a wrong method with 404.
 */
export async function planRest(view: GraphQLSchema): Promise<RestPlan> {
  const derived: Derived[] = [];
  const execute: SofaConfig["execute"] = (args) => {
    derived.push({ document: args.document, operationName: args.operationName ?? "" });
    return Promise.resolve({ data: {} });
  };
  const routes = Object.fromEntries(
    restRoutes.map(({ root, operation, method, path }) => [`${root}.${operation}`, { method, path }]),
  );
  const router = useSofa({ schema: view, basePath: restBase, routes, execute });

  const operations: RestOperation[] = [];
  for (const route of restRoutes) {
    const url = `http://localhost${restBase}${route.path.replaceAll(/:\w+/gu, "x")}`;
    await router.fetch(url, { method: route.method }, {});
    const found = derived.pop();
    if (found === undefined) throw new Error(`sofa-api made no operation for ${route.method} ${route.path}.`);
    operations.push({ ...route, ...found });
  }
  return { operations, openApi: router.openAPIDocument };
}
