import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../support/app.js";
import { graphqlError, refusedOperation } from "../support/problems.js";
import { product, storedProducts } from "../support/products.js";

const app = await openTestApp();
/** Nothing is ever stored in it. */
const store = await createTestStore(app);

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

async function expectNothingStored(): Promise<void> {
  expect(await storedProducts(app, store)).toEqual([]);
}

describe("GraphQL literals", () => {
  test.each([
    ["a missing field", `{ id: "a" }`, `Field "ProductInput.sku" of required type "String!" was not provided.`],
    ["a mistyped field", `{ id: 5 }`, "id must be a string, not 5."],
    ["a mistyped item", `{ images: ["//a.example", 5.5] }`, "images must be a string, not 5.5."],
    ["a text for a number", `{ price: "1" }`, `price must be a number, not "1".`],
    ["a list for a text", `{ id: ["a"] }`, "id must be a string, not an array."],
    ["an enum's value for a text", `{ id: LIVE }`, "id must be a string, not LIVE."],
    ["an unknown field", `{ colour: 1 }`, `Field "colour" is not defined by type "ProductInput".`],
    ["null", "null", `Expected value of type "ProductInput!", found null.`],
    ["no object", `"x"`, `Expected value of type "ProductInput!", found "x".`],
  ])("%s is a bad request", async (_, literal, message) => {
    const { data, errors } = await store.graphql(`mutation { importProduct(product: ${literal}) { message } }`);
    expect(data).toBeUndefined();
    expect(errors).toContainEqual({
      ...graphqlError("BAD_REQUEST", message),
      locations: [{ line: 1, column: expect.any(Number) }],
    });
    for (const { extensions } of errors ?? []) expect(extensions.code).toBe("BAD_REQUEST");
    await expectNothingStored();
  });

  test.each([
    ["a blank title", `title: " "`, "REQUIRED", "title must not be blank.", "title"],
    ["a negative price", "price: -1", "INVALID_VALUE", "price must be a finite number of 0 or more, not -1.", "price"],
    [
      "a bad URL",
      `url: "ftp://a.example"`,
      "INVALID_VALUE",
      'url must be an http, https or protocol-relative URL, not "ftp://a.example".',
      "url",
    ],
  ])("%s is refused as it is in variables", async (_, field, code, message, path) => {
    const fields = Object.entries(product("a"))
      .filter(([name]) => name !== path)
      .map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    const { data, errors } = await store.graphql(
      `mutation { importProduct(product: { ${[...fields, field].join(" ")} }) { message } }`,
    );
    const expected = graphqlError("VALIDATION_FAILED", message, [{ code, message, path: ["product", path] }]);
    expect({ data, errors }).toEqual({
      data: { importProduct: null },
      errors: [{ ...expected, path: ["importProduct"], locations: [{ line: 1, column: 12 }] }],
    });
    await expectNothingStored();
  });

  test("operations nested ten thousand levels deep, in fields or in literals, are bad requests", async () => {
    // The parser runs out of stack or counts too many tokens, whichever comes first.
    const message = expect.stringMatching(
      /^(?:The operation is nested too deeply\.|Syntax Error: Document contains more that 5000 tokens\.)/u,
    );
    const refused = { errors: [{ message, extensions: { code: "BAD_REQUEST", errorsTotal: 1 } }] };
    expect(await store.graphql("{a".repeat(10_000) + "}".repeat(10_000))).toMatchObject(refused);
    expect(await store.graphql(`mutation { importProduct(product: ${nested(10_000)}) { message } }`)).toMatchObject(
      refused,
    );
  });

  test("an operation that is invalid for the schema is a bad request with its location", async () => {
    expect(await store.graphql("{")).toEqual(refusedOperation("Syntax Error: Expected Name, found <EOF>.", 1, 2));
    expect(await store.graphql("{ nope }")).toEqual(
      refusedOperation(`Cannot query field "nope" on type "Query".`, 1, 3),
    );
    expect(await store.graphql(`{ product(productId: "\\ud800") { id } }`)).toEqual(
      refusedOperation(`Syntax Error: Invalid Unicode escape sequence: "\\ud800".`, 1, 23),
    );
  });
});
