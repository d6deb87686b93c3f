import { describe, expect, test } from "vitest";
import { productFieldNames, productFields } from "../../src/files/product/product.fields.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { type ExpectedProblem, graphqlError, invalid, invalidVariables } from "../support/problems.js";
import { importedAnswer, importMany, importOne, paths, product, storedProducts } from "../support/products.js";

const app = await openTestApp();

const required = productFieldNames.filter((name) => productFields[name].required);

describe("limits", () => {
  test("the longest texts are stored, counted in code points and not in UTF-16 units", async () => {
    const store = await createTestStore(app);
    const longest = {
      id: "👟".repeat(255),
      sku: "é".repeat(255),
      title: "鞋".repeat(1_000),
      description: "👟".repeat(65_535),
      featured_image: `https://a.example/${"👟".repeat(2_030)}`,
      url: `//a.example/${"x".repeat(2_036)}`,
      images: Array.from({ length: 250 }, (_, index) => `//a.example/${index}`),
    };
    expect(await store.post(paths.one, { product: product("a", longest) })).toEqual(importedAnswer(1));
    const { featured_image: featuredImage, ...rest } = longest;
    expect(await storedProducts(app, store)).toEqual([expect.objectContaining({ ...rest, featuredImage })]);
  });

  test("URLs are stored as they are", async () => {
    const store = await createTestStore(app);
    const urls = [
      "http://a.example",
      "HTTPS://A.EXAMPLE/X",
      "//a.example/x",
      "https://user@a.example:8443/x?y=z#w",
      "https://größe.example/ü%20x",
      "http://localhost/x",
      "http://127.0.0.1:9/x",
      "http://[::1]/x",
      "https://a_b.example/",
    ];
    const sent = urls.map((url, index) => product(String(index), { url, featured_image: url, images: [url] }));
    expect(await store.post(paths.bulk, { products: sent })).toEqual(importedAnswer(urls.length));
    const stored = await storedProducts(app, store);
    expect(stored.map(({ url, featuredImage, images }) => [url, featuredImage, images])).toEqual(
      urls.map((url) => [url, url, [url]]),
    );
  });

  test("a description may be blank", async () => {
    const store = await createTestStore(app);
    expect(await store.post(paths.one, { product: product("a", { description: " " }) })).toEqual(importedAnswer(1));
    expect(await storedProducts(app, store)).toMatchObject([{ description: " " }]);
  });

  test("a single string is refused as images over REST, and coerced to a list of one in GraphQL", async () => {
    const store = await createTestStore(app);
    const sent = product("a", { images: "https://a.example/1.jpg" });
    expect(await store.post(paths.one, { product: sent })).toEqual(
      invalid({
        code: "INVALID_TYPE",
        message: 'images must be an array of strings, not "https://a.example/1.jpg".',
        path: ["product", "images"],
      }),
    );
    expect(await storedProducts(app, store)).toEqual([]);
    expect(await store.graphql(importOne, { product: sent })).toEqual({
      data: { importProduct: importedAnswer(1).body },
    });
    expect(await storedProducts(app, store)).toEqual([
      expect.objectContaining({ images: ["https://a.example/1.jpg"] }),
    ]);
  });
});

describe("several problems", () => {
  test("are all listed, of one product and of many, in the order of the rows", async () => {
    const store = await createTestStore(app);
    const list = [{ id: 5, colour: "red" }, product("b", { price: "1", price_max: -1 }), null, "x", [], product("c")];
    const problems: ExpectedProblem[] = [
      { code: "UNKNOWN_FIELD", message: `A product has no field "colour".`, path: ["products", 0, "colour"] },
      { code: "INVALID_TYPE", message: "id must be a string, not 5.", path: ["products", 0, "id"] },
      ...required
        .slice(1)
        .map((field) => ({ code: "REQUIRED", message: `${field} is required.`, path: ["products", 0, field] })),
      { code: "INVALID_TYPE", message: 'price must be a number, not "1".', path: ["products", 1, "price"] },
      {
        code: "INVALID_VALUE",
        message: "price_max must be a finite number of 0 or more, not -1.",
        path: ["products", 1, "price_max"],
      },
      ...[2, 3, 4].map((index) => ({
        code: "INVALID_TYPE",
        message: `A product must be an object, not ${["null", '"x"', "an array"][index - 2]}.`,
        path: ["products", index],
      })),
    ];
    expect(await store.post(paths.bulk, { products: list })).toEqual(invalid(...problems));
    expect(await store.graphql(importMany, { products: list })).toEqual(invalidVariables(...problems));
    expect(await storedProducts(app, store)).toEqual([]);
  });

  test.each([
    ["in shape", "x"],
    ["in value", -1],
  ])("of several kinds, some of them wrong %s: the first 100 are those of the first rows", async (_where, price) => {
    const store = await createTestStore(app);
    await store.post(paths.bulk, { products: [product("taken")] });
    const list = Array.from({ length: 400 }, (_item, index) => {
      if (index < 198) return product(`same-${index >> 1}`, { sku: `${index}` });
      return product(`p${index}`, index === 198 && price === -1 ? { sku: "sku-taken" } : { price });
    });
    const answer = await store.post(paths.bulk, { products: list });
    const codes = answer.body.errors.map((error: ExpectedProblem) => error.code);
    const last = price === -1 ? "CONFLICT" : "INVALID_TYPE";
    expect(codes).toEqual([...Array.from({ length: 99 }, () => "DUPLICATE"), last]);
    expect(answer.body.errors.map(({ path }: ExpectedProblem) => path[1])).toEqual(
      list.slice(0, 100).map((_, i) => 2 * i),
    );
    expect(answer.body.errorsTotal).toBe(301);
    expect(await store.graphql(importMany, { products: list })).toMatchObject({
      errors: [{ extensions: { errors: answer.body.errors, errorsTotal: 301 } }],
    });
  });

  test.each([
    ["in shape", "x", "INVALID_TYPE", 'price must be a number, not "x".'],
    ["in value", -1, "INVALID_VALUE", "price must be a finite number of 0 or more, not -1."],
  ])("wrong %s: the first 100 of 250 are listed, and the number of all", async (_where, price, code, message) => {
    const store = await createTestStore(app);
    const list = Array.from({ length: 250 }, (_item, index) => product(`p${index}`, { price }));
    const listed = Array.from({ length: 100 }, (_item, index) => ({
      code,
      message,
      path: ["products", index, "price"],
    }));
    const detail = "250 problems; the first 100 are listed. Nothing was stored.";
    const answer = invalid(...listed);
    expect(await store.post(paths.bulk, { products: list })).toEqual({
      ...answer,
      body: { ...answer.body, detail, errorsTotal: 250 },
    });
    const { errors } = await store.graphql(importMany, { products: list });
    const expected = graphqlError("VALIDATION_FAILED", detail, listed);
    expect(errors).toEqual([
      expect.objectContaining({ message: detail, extensions: { ...expected.extensions, errorsTotal: 250 } }),
    ]);
    expect(await storedProducts(app, store)).toEqual([]);
  });
});
