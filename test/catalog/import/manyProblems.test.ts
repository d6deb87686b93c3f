import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { toCsv } from "../../support/catalog/csv.js";
import { paths, products, storedKeys } from "../../support/products.js";

const app = await openTestApp();

const rows = 1_002;
/** Products with one sku, of which the last ones have an invalid price. */
const wrong = (invalid: number) =>
  products(rows, (index) => ({ sku: "same", ...(index >= rows - invalid && { price: -1 }) }));

describe.each([
  ["JSON", paths.bulk, "application/json", (list: readonly object[]) => JSON.stringify({ products: list })],
  ["CSV", paths.csv, "text/csv", (list: readonly object[]) => toCsv(list as [])],
  [
    "NDJSON",
    paths.bulk,
    "application/x-ndjson",
    (list: object[]) => list.map((item) => JSON.stringify(item)).join("\n"),
  ],
] as const)("an import of %s", (_, path, type, write) => {
  test.each([
    ["reports 1,000 invalid values together with a duplicate key", 1_000, "DUPLICATE", 1_001],
    ["counts more invalid values, without comparing keys", 1_001, "INVALID_VALUE", 1_001],
    ["counts all values if all are invalid", rows, "INVALID_VALUE", rows],
  ])("%s", async (__, invalid, first, errorsTotal) => {
    const store = await createTestStore(app);
    const body = write(wrong(invalid));
    const answer = await readAnswer(
      await store.fetch(path, { method: "POST", headers: { "content-type": type }, body }),
    );
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code: "VALIDATION_FAILED",
        detail: `${errorsTotal} problems; the first 100 are listed. Nothing was stored.`,
        errorsTotal,
      },
    });
    expect(answer.body.errors.map((error: { code: string }) => error.code)).toEqual([
      first,
      ...Array.from({ length: 99 }, () => "INVALID_VALUE"),
    ]);
    expect(await storedKeys(app, store)).toEqual({});
  });
});
