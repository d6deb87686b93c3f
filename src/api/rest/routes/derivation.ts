import {
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  GraphQLObjectType,
  GraphQLSchema,
  Kind,
  parse,
  printType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";
import { useSofa } from "sofa-api";
import { restBase, type RestRoute } from "./route.js";
import { fieldsOf, restRoutes } from "./routes.js";

/** A route, and the operation that sofa-api derives for it from the schema. */
export interface RestOperation extends RestRoute, Selection {
  readonly operationName: string;
}

/** The schema with only the root fields of these routes, so that sofa-api makes no routes for others. */
function rootFieldsOnly(schema: GraphQLSchema, routes: readonly RestRoute[]): GraphQLSchema {
  const known = new Set(routes.map(({ root, operation }) => `${root}.${operation}`));
  const narrowedRoot = (type: GraphQLObjectType | null | undefined): GraphQLObjectType | null => {
    if (!type) return null;
    const { fields, ...config } = type.toConfig();
    const kept = Object.entries(fields).filter(([name]) => known.has(`${type.name}.${name}`));
    if (kept.length === 0) return null;
    const root = new GraphQLObjectType({ ...config, fields: Object.fromEntries(kept) });
    // sofa-api reads descriptions from the node. Without one, it would print and parse the type for each argument.
    const [node] = parse(printType(root)).definitions;
    if (node?.kind === Kind.OBJECT_TYPE_DEFINITION) root.astNode = node;
    return root;
  };
  return new GraphQLSchema({
    query: narrowedRoot(schema.getQueryType()),
    mutation: narrowedRoot(schema.getMutationType()),
  });
}

interface Derived {
  readonly document: DocumentNode;
  readonly operationName: string;
}
type SofaConfig = Parameters<typeof useSofa>[0];

/** The value of each path parameter when we call sofa-api, which coerces it: every built-in scalar accepts "1". */
const trialSegment = "1";

/**
 * Derives the REST paths at start: calls sofa-api's route of each root field once, with an `execute` that keeps the operation,
 * and narrows the operation for each of its paths. src/api/rest/handler.ts serves requests, because sofa's handler lets the
 * query string override the body, coerces values (5 becomes "5"), has no body limit, serves /webhook, and answers a wrong
 * method with 404.
 */
export async function planRest(
  schema: GraphQLSchema,
  routes: readonly RestRoute[] = restRoutes,
): Promise<readonly RestOperation[]> {
  let found: Derived | undefined;
  const execute: SofaConfig["execute"] = (args) => {
    found = { document: args.document, operationName: args.operationName ?? "" };
    return Promise.resolve({ data: {} });
  };
  const firstRoutes = new Map<string, RestRoute>();
  for (const route of routes) {
    const name = `${route.root}.${route.operation}`;
    if (!firstRoutes.has(name)) firstRoutes.set(name, route);
  }
  const methods = Object.fromEntries([...firstRoutes].map(([name, { method, path }]) => [name, { method, path }]));
  const router = useSofa({
    schema: rootFieldsOnly(schema, routes),
    basePath: restBase,
    routes: methods,
    execute,
  });
  const derived = new Map<string, Derived>();
  for (const [name, { method, path }] of firstRoutes) {
    found = undefined;
    await router.fetch(`http://localhost${restBase}${path.replaceAll(/:\w+/gu, trialSegment)}`, { method }, {});
    if (found === undefined) throw new Error(`sofa-api made no operation for ${method} ${path}.`);
    derived.set(name, found);
  }
  return routes.map((route) => {
    const { document, operationName } = derived.get(`${route.root}.${route.operation}`) as Derived; // the loop above derives each root field
    return { ...route, operationName, ...narrowed(schema, document, route) };
  });
}

interface Selection {
  readonly document: DocumentNode;
  /** The route's parameters: arguments of the root field and of fields in the answer, by the operation's variables. */
  readonly parameters: ReadonlyMap<string, GraphQLArgument>;
}

/**
 * Narrows an operation with all fields to those of a route: for types and fields that the route names, the fields that it lists;
 * for others, all fields. Fields with arguments are kept only at the top of the answer, where their arguments become
 * parameters of the path. Such fields of lists and other objects have their own paths.
 *
 * @throws {Error} if two arguments have the same name
 */
function narrowed(schema: GraphQLSchema, document: DocumentNode, route: RestRoute): Selection {
  const kept = keepFields(schema, document, route);
  const parameters = new Map<string, GraphQLArgument>();
  const names = new Map<string, string>();
  const types = new TypeInfo(schema);
  visit(
    kept,
    visitWithTypeInfo(types, {
      Argument({ name: { value: name }, value }) {
        const argument = types.getArgument();
        if (value.kind !== Kind.VARIABLE || !argument) return;
        if (parameters.has(name)) throw new Error(`${route.path} has two arguments named ${name}.`);
        parameters.set(name, argument);
        names.set(value.name.value, name);
      },
    }),
  );
  const renamed = visit(kept, {
    VariableDefinition: ({ variable }) => (names.has(variable.name.value) ? undefined : null),
    Variable: {
      leave: (node) => ({ ...node, name: { ...node.name, value: names.get(node.name.value) ?? node.name.value } }),
    },
  });
  return { document: renamed, parameters };
}

function keepFields(schema: GraphQLSchema, document: DocumentNode, route: RestRoute): DocumentNode {
  const fields = fieldsOf(route);
  const types = new TypeInfo(schema);
  const around: string[] = []; // the fields around the current one, such as Query.storeAnalytics
  const isKept = ({ name: { value: name }, arguments: args = [] }: FieldNode): boolean => {
    const field = around.at(-1);
    if (field === undefined) return true;
    const named = fields[field] ?? fields[types.getParentType()?.name ?? ""];
    return (named?.includes(name) ?? true) && (around.length === 1 || args.length === 0);
  };
  return visit(
    document,
    visitWithTypeInfo(types, {
      Field: {
        enter(node) {
          if (!isKept(node)) return null;
          around.push(`${types.getParentType()?.name}.${node.name.value}`);
          return undefined;
        },
        leave: () => void around.pop(),
      },
    }),
  );
}
