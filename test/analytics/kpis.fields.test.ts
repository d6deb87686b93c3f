import { readFile } from "node:fs/promises";
import { isObjectType } from "graphql";
import { expect, test } from "vitest";
import { schema } from "../../src/graphql/schema.js";
import { kpis } from "../support/oracle.js";

const type = schema.getType("Kpis");
const fields = isObjectType(type) ? Object.keys(type.getFields()).toSorted() : [];

test("the oracle of the property tests computes every KPI of the schema", () => {
  expect(Object.keys(kpis([])).toSorted()).toEqual(fields);
});

test("docs/analytics.md defines every KPI of the schema", async () => {
  const rows = [...(await readFile("docs/analytics.md", "utf8")).matchAll(/^\| `(\w+)` +\|/gmu)];
  expect(rows.map(([, name]) => name)).toEqual(expect.arrayContaining(fields));
});
