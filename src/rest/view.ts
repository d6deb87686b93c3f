import { filterSchema, pruneSchema } from "@graphql-tools/utils";
import type { GraphQLSchema } from "graphql";
import { documentedFields, restRoutes } from "./routes.js";

/** The schema as REST documents it: the documented operations and fields, and nothing else. */
export function restView(schema: GraphQLSchema): GraphQLSchema {
  const operations = new Set(restRoutes.map(({ root, operation }) => `${root}.${operation}`));
  return pruneSchema(
    filterSchema({
      schema,
      rootFieldFilter: (root, field) => operations.has(`${root}.${field}`),
      objectFieldFilter: (type, field) => documentedFields[type]?.includes(field) ?? true,
    }),
  );
}
