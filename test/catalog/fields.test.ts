import { readFile } from "node:fs/promises";
import { type GraphQLInputObjectType, isNonNullType } from "graphql";
import { expect, test } from "vitest";
import { exampleProduct, productFieldNames, productFields } from "../../src/catalog/product/product.fields.js";
import { csvExample } from "../../src/rest/openapi/examples/exampleData.js";
import { schema } from "../../src/graphql/schema.js";

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

test.each([
  ["ProductInput", (name: keyof typeof productFields) => productFields[name].required],
  ["ProductPatchInput", () => false],
])("%s has every field, required or not as in imports", (typeName, isRequired) => {
  const fields = Object.values((schema.getType(typeName) as GraphQLInputObjectType).getFields());
  const expected = productFieldNames.map((name) => [name, isRequired(name)]);
  expect(Object.fromEntries(fields.map(({ name, type }) => [name, isNonNullType(type)]))).toEqual(
    Object.fromEntries(expected),
  );
});
