import { isEnumType } from "graphql";
import { expect, test } from "vitest";
import { errorCodes, placeCodes } from "../../src/errors.js";
import { schema } from "../../src/api/graphql/schema.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { product } from "../support/products.js";

const app = await openTestApp();
const codes = Object.keys({ ...errorCodes, ...placeCodes });

test("every code is a value of the enum ErrorCode", () => {
  const type = schema.getType("ErrorCode");
  expect(isEnumType(type) && type.getValues().map(({ name }) => name)).toEqual(codes);
});

test("problems of an import have values of the enum, those of its patches too", async () => {
  const store = await createTestStore(app);
  await store.post("/external/product/v1", { product: product("stored") });
  const fields = "failures { problems { code } }";
  const sent = [
    product("", {}),
    product("a", { price: -1 }),
    product("b", { sku: "x".repeat(256) }),
    product("c", { sku: "sku-stored" }),
    product("d"),
    product("d", { sku: "other" }),
  ];
  const imported = await store.graphql(
    `mutation ($sent: [ProductInput!]!) { importProducts(products: $sent, errorPolicy: REJECT_FAILED) { ${fields} } }`,
    { sent },
  );
  const patched = await store.graphql(
    `mutation { patchProducts(products: [{ id: "none", price: 1 }], errorPolicy: REJECT_FAILED) { ${fields} } }`,
  );
  const problems = [imported.data.importProducts, patched.data.patchProducts].flatMap(({ failures }) => failures);
  const found = new Set(problems.flatMap((failure) => failure.problems.map(({ code }: { code: string }) => code)));
  expect(found).toEqual(
    new Set(["CONFLICT", "DUPLICATE", "INVALID_VALUE", "PRODUCT_NOT_FOUND", "REQUIRED", "TOO_LONG"]),
  );
});
