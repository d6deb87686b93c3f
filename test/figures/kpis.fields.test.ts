import { isObjectType } from "graphql";
import { expect, test } from "vitest";
import { kpisOf, showTotals } from "../../src/figures/show/kpis.js";
import { schema } from "../../src/api/graphql/schema.js";
import { kpis } from "../support/oracle.js";

const type = schema.getType("Kpis");
const fields = isObjectType(type) ? Object.keys(type.getFields()).toSorted() : [];

test("the schema has every KPI that is computed", () => {
  expect(Object.keys(kpisOf(showTotals([], []))).toSorted()).toEqual(fields);
});

test("the oracle of the property tests computes every KPI of the schema", () => {
  expect(Object.keys(kpis([])).toSorted()).toEqual(fields);
});
