import { filterSchema, pruneSchema } from "@graphql-tools/utils";
import { type DocumentNode, type GraphQLSchema, Kind, parse, printType } from "graphql";
import { useSofa } from "sofa-api";
import { documentedFields, restBase, restRoutes, type RestRoute } from "./routes.js";

export interface RestOperation extends RestRoute {
  readonly document: DocumentNode;
  readonly operationName: string;
}

/** What sofa-api derives from the schema's view: an operation for each documented path, and a first OpenAPI document. */
export interface RestPlan {
  readonly view: GraphQLSchema;
  readonly operations: readonly RestOperation[];
  readonly openApi: object;
}

/** The schema as REST documents it: the operations of these routes and the documented fields, and nothing else. */
export function restView(schema: GraphQLSchema, routes: readonly RestRoute[] = restRoutes): GraphQLSchema {
  const operations = new Set(routes.map(({ root, operation }) => `${root}.${operation}`));
  return pruneSchema(
    filterSchema({
      schema,
      rootFieldFilter: (root, field) => operations.has(`${root}.${field}`),
      objectFieldFilter: (type, field) => documentedFields[type]?.includes(field) ?? true,
    }),
  );
}

/** Adds the root types' nodes, in which sofa-api looks up descriptions: without, it would print and parse the type for each argument. */
function addRootNodes(view: GraphQLSchema): void {
  for (const type of [view.getQueryType(), view.getMutationType()]) {
    if (type === null || type === undefined) continue;
    const [node] = parse(printType(type)).definitions;
    if (node?.kind === Kind.OBJECT_TYPE_DEFINITION) type.astNode = node;
  }
}

type Derived = Pick<RestOperation, "document" | "operationName">;
type SofaConfig = Parameters<typeof useSofa>[0];

/** Stands for each path parameter when sofa-api is called: it coerces them, and every built-in scalar accepts this. */
const trialSegment = "1";

/**
 * Derives the REST paths at start: each route of sofa-api is called once, with an `execute` that keeps the operation. Requests
 * are served by rest/handler.ts, because sofa's handler lets the query string override the body, coerces values (5 becomes
 * "5"), has no body limit, serves /webhook, and answers a wrong method with 404.
 */
export async function planRest(schema: GraphQLSchema, routes: readonly RestRoute[] = restRoutes): Promise<RestPlan> {
  const view = restView(schema, routes);
  addRootNodes(view);
  const derived: Derived[] = [];
  const execute: SofaConfig["execute"] = (args) => {
    derived.push({ document: args.document, operationName: args.operationName ?? "" });
    return Promise.resolve({ data: {} });
  };
  const methods = Object.fromEntries(
    routes.map(({ root, operation, method, path }) => [`${root}.${operation}`, { method, path }]),
  );
  const router = useSofa({ schema: view, basePath: restBase, routes: methods, execute });

  const operations: RestOperation[] = [];
  for (const route of routes) {
    const url = `http://localhost${restBase}${route.path.replaceAll(/:\w+/gu, trialSegment)}`;
    await router.fetch(url, { method: route.method }, {});
    const found = derived.pop();
    if (found === undefined) throw new Error(`sofa-api made no operation for ${route.method} ${route.path}.`);
    operations.push({ ...route, ...found });
  }
  return { view, operations, openApi: router.openAPIDocument };
}
