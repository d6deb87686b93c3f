import { readFile } from "node:fs/promises";
import { isObjectType } from "graphql";
import { expect, test } from "vitest";
import { showColumns } from "../../src/figures/store/showColumns.js";
import { kpisOf } from "../../src/figures/show/kpis.js";
import { schema } from "../../src/api/graphql/schema.js";
import { kpis } from "../support/oracle.js";

const type = schema.getType("Kpis");
const fields = isObjectType(type) ? Object.keys(type.getFields()).toSorted() : [];

test("the schema has every KPI that is computed", () => {
  expect(Object.keys(kpisOf([], [])).toSorted()).toEqual(fields);
});

test("the oracle of the property tests computes every KPI of the schema", () => {
  expect(Object.keys(kpis([])).toSorted()).toEqual(fields);
});

test("docs/exports.md and docs/kpis.md name every column of an export of shows", async () => {
  const [, section = ""] = (await readFile("docs/exports.md", "utf8")).split("## Figures of shows");
  const [, columns = ""] = (await readFile("docs/kpis.md", "utf8")).split("## Columns of exports");
  const named = (section.split("\n## ")[0] ?? "") + (columns.split("\n## ")[0] ?? "");
  expect(showColumns.filter((column) => !named.includes(`\`${column}\``))).toEqual([]);
});
