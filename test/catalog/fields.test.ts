import { readFile } from "node:fs/promises";
import type { GraphQLInputObjectType, GraphQLObjectType } from "graphql";
import { expect, test } from "vitest";
import {
  exampleProduct,
  type FieldName,
  productFieldNames,
  productFields,
} from "../../src/files/product/product.fields.js";
import { csvExample } from "../../src/api/rest/routes/exampleData.js";
import { schema } from "../../src/api/graphql/schema.js";

test("docs/catalog.md lists every field of a product", async () => {
  const [, section = ""] = (await readFile("docs/catalog.md", "utf8")).split("## Product fields");
  const rows = [...(section.split("\n## ")[0] ?? "").matchAll(/^\| (`[^|]+) \|/gmu)];
  const names = rows.flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)`/gu)].map(([, name = ""]) => name));
  expect(new Set(names)).toEqual(new Set(productFieldNames));
});

test("the examples of the OpenAPI document have every field of a product", () => {
  const names = new Set(productFieldNames);
  expect(new Set(Object.keys(exampleProduct))).toEqual(names);
  expect(new Set(csvExample.split("\n")[0]?.split(","))).toEqual(names);
});

const types = { text: "String", url: "String", urls: "[String!]", price: "Float", flag: "Boolean" } as const;
const isRequired = (name: FieldName) => productFields[name].required;

test.each<[typeName: string, isNonNull: (name: FieldName) => boolean]>([
  ["ProductInput", isRequired],
  ["ProductPatchInput", () => false],
  ["Product", (name) => isRequired(name) || productFields[name].kind === "urls"],
])("%s has every field, in order, with its type", (typeName, isNonNull) => {
  const type = schema.getType(typeName) as GraphQLInputObjectType | GraphQLObjectType;
  const fields = Object.values<{ readonly name: string; readonly type: unknown }>(type.getFields());
  const found = fields.map(({ name, type: own }) => `${name}: ${String(own)}`);
  expect(found.slice(0, productFieldNames.length)).toEqual(
    productFieldNames.map((name) => {
      const own = name === "id" && typeName === "Product" ? "ID" : types[productFields[name].kind];
      return `${name}: ${own}${isNonNull(name) ? "!" : ""}`;
    }),
  );
});
