import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type ColumnType, productColumns } from "../../../src/files/product/product.columns.js";
import { type ProductInput, productFieldNames, productFields } from "../../../src/files/product/product.fields.js";
import { checkProduct } from "../../../src/files/product/product.input.js";
import { ruleOf } from "../../../src/files/product/product.rules.js";
import { Problems } from "../../../src/errors.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { waysToStore } from "../../support/catalog/ways.js";
import { openFolder } from "../../support/folder.js";
import { anyUrl } from "../../support/fuzz/anyUrl.js";
import { type Sent, storedProduct, storedProducts } from "../../support/products.js";

const app = await openTestApp();
/** Those of long lists are in parity.test.ts. */
const ways = Object.values(waysToStore(app, await openFolder()))
  .flatMap((group) => Object.entries(group))
  .filter(([name]) => name !== "long")
  .map(([, send]) => send);

const values: { readonly [T in ColumnType]: fc.Arbitrary<unknown> } = {
  text: fc.oneof(fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }), anyUrl),
  numeric: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  boolean: fc.boolean(),
  "text[]": fc.array(anyUrl, { minLength: 1, maxLength: 3 }),
};

/** Values that a field accepts. */
function fieldValue(name: keyof ProductInput): fc.Arbitrary<unknown> {
  return values[productColumns[name].type].filter((candidate) => {
    let isValid = true;
    ruleOf(productFields[name])(candidate, name, () => (isValid = false));
    return isValid;
  });
}

/** Valid products, whose optional fields have values, or are null or missing. */
const valid: fc.Arbitrary<Sent> = fc
  .record(
    Object.fromEntries(
      productFieldNames.map((name) => [
        name,
        productFields[name].required ? fieldValue(name) : fc.oneof(fieldValue(name), fc.constantFrom(null, undefined)),
      ]),
    ),
  )
  .filter((candidate) => checkProduct(candidate, { path: [] }, new Problems()));

/** Products, and what replaces them. */
const twoImports = fc.array(fc.tuple(valid, valid), { minLength: 2, maxLength: 2 }).map((pairs) =>
  ([0, 1] as const).map((version) =>
    pairs.map((pair, index) => ({
      ...pair[version],
      id: `${index} ${String(pair[0]["id"])}`,
      sku: `${index} ${version} ${String(pair[version]["sku"])}`,
    })),
  ),
);

test("whatever valid values the fields of products have, and then others, is stored by each way in", async () => {
  const store = await createTestStore(app);
  const property = fc.asyncProperty(fc.constantFrom(...ways), twoImports, async (send, imports) => {
    await app.db.product.deleteMany({ where: { storeId: store.id } });
    for (const list of imports) {
      await send(store, list);
      const stored = new Map((await storedProducts(app, store)).map((row) => [row.id, row]));
      expect(list.map(({ id }) => stored.get(id))).toEqual(list.map(storedProduct));
    }
  });
  await fc.assert(property);
});
