import { buildSchema, getNamedType, type GraphQLObjectType, isObjectType } from "graphql";
import { expect, test } from "vitest";
import { guardScopes } from "../../../src/api/execution/guardScopes.js";
import { schema } from "../../../src/api/graphql/schema.js";

test("the server does not start with a root field that declares no scope", () => {
  const open = buildSchema("type Query { open: Int }");
  expect(() => guardScopes(open)).toThrow("Query.open declares no scope.");
});

/** Types that have no data of their own, and the name of a show and its hosts, which its figures come with. */
const shared = new Set(["PageInfo", "LiveStream", "Host"]);

test("fields below the root types declare the scope of other data that they lead to", () => {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  /** What the fields of each type are of, such as `catalog`, by the fields that lead to it and declare a scope. */
  const subjects = new Map<string, Set<string>>();
  const visit = (type: GraphQLObjectType, subject: string): void => {
    const known = subjects.get(type.name) ?? new Set();
    if (known.has(subject)) return;
    subjects.set(type.name, known.add(subject));
    visitFields(type, subject);
  };
  const visitFields = (type: GraphQLObjectType, subject = ""): void => {
    for (const { type: fieldType, extensions } of Object.values(type.getFields())) {
      const target = getNamedType(fieldType);
      if (isObjectType(target)) visit(target, extensions.scope?.split(":")[0] ?? subject);
    }
  };
  for (const root of roots) if (root) visitFields(root);
  const mixed = [...subjects].filter(([name, of]) => of.size > 1 && !shared.has(name));
  expect(mixed.map(([name, of]) => `${name}: ${[...of].join()}`)).toEqual([]);
});
