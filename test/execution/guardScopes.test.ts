import { buildSchema, isObjectType } from "graphql";
import { expect, test } from "vitest";
import { guardScopes } from "../../src/execution/guardScopes.js";
import { schema } from "../../src/graphql/schema.js";

test("the server does not start with a root field that declares no scope", () => {
  const open = buildSchema("type Query { open: Int }");
  expect(() => guardScopes(open)).toThrow("Query.open declares no scope.");
});

test("fields below the root types declare the scope of other data that they lead to", () => {
  const roots = new Set([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]);
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  const declared = types
    .filter((type) => !roots.has(type))
    .flatMap((type) => Object.values(type.getFields()).map((field) => [`${type.name}.${field.name}`, field] as const))
    .map(([name, { extensions }]) => [name, extensions.scope] as const);
  expect(Object.fromEntries(declared.filter(([, scope]) => scope !== undefined))).toEqual({
    "LiveStream.kpis": "analytics:read",
    "Product.performance": "analytics:read",
    "ProductCarts.product": "catalog:read",
    "ProductPerformance.product": "catalog:read",
  });
});
