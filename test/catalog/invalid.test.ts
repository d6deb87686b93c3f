import { expect, test } from "vitest";
import { type FieldKind, productFieldNames, productFields } from "../../src/files/product/product.fields.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { type ExpectedProblem, invalid, invalidVariables, notThis } from "../support/problems.js";
import { importedAnswer, importMany, paths, product, storedProducts } from "../support/products.js";

const app = await openTestApp();

type Expected = [code: string, message: string, ...path: (string | number)[]];
/** A field, its value, and what is said of it. The path is that of the field, unless more is said. */
type Case = [field: string, value: unknown, Expected];

const namesOf = (...kinds: readonly FieldKind[]) =>
  productFieldNames.filter((name) => kinds.some((kind) => productFields[name].kind === kind));
const required = productFieldNames.filter((name) => productFields[name].required);
const texts = namesOf("text", "url");
const prices = namesOf("price");
const notWeb = (field: string, value: string) =>
  `${field} must be an http, https or protocol-relative URL${notThis(value)}`;

const missing = required.flatMap((field): Case[] =>
  [undefined, null].map((value) => [field, value, ["REQUIRED", `${field} is required.`]]),
);
const mistyped: Case[] = [
  ...texts.flatMap((field) =>
    [5, true, ["x"], { a: 1 }].map((value): Case => [
      field,
      value,
      ["INVALID_TYPE", `${field} must be a string${notThis(value)}`],
    ]),
  ),
  ...prices.flatMap((field) =>
    ["1", true, [1], {}].map((value): Case => [
      field,
      value,
      ["INVALID_TYPE", `${field} must be a number${notThis(value)}`],
    ]),
  ),
  ...namesOf("flag").flatMap((field) =>
    ["true", 1, 0, [true], {}].map((value): Case => [
      field,
      value,
      ["INVALID_TYPE", `${field} must be true or false${notThis(value)}`],
    ]),
  ),
  ...[null, 5, true, {}, ["//a.example"]].map((value): Case => [
    "images",
    ["//a.example/1", value],
    ["INVALID_TYPE", `images[1] must be a string${notThis(value)}`, "images", 1],
  ]),
];
const refusedTexts: Case[] = [
  ...texts
    .filter((field) => required.includes(field))
    .flatMap((field) =>
      ["", "  ", "\n\t\u00a0\u3000"].map((value): Case => [field, value, ["REQUIRED", `${field} must not be blank.`]]),
    ),
  ["images", [""], ["REQUIRED", "images[0] must not be blank.", "images", 0]],
  ...texts.flatMap((field): Case[] => [
    [field, "https://a.example/\0", ["INVALID_VALUE", `${field} must not contain a NUL character.`]],
    [field, "https://a.example/\ud83d", ["INVALID_VALUE", `${field} must not contain a lone surrogate.`]],
    [field, "https://a.example/\udc5f\ud83d", ["INVALID_VALUE", `${field} must not contain a lone surrogate.`]],
  ]),
  ["images", ["//a.example/\0"], ["INVALID_VALUE", "images[0] must not contain a NUL character.", "images", 0]],
  ...namesOf("text").map((field): Case => {
    const max = (productFields[field] as { readonly charactersMax: number }).charactersMax;
    return [field, "👟".repeat(max + 1), ["TOO_LONG", `${field} must have at most ${max} characters.`]];
  }),
  ["url", `//a.example/${"x".repeat(2_037)}`, ["TOO_LONG", "url must have at most 2048 characters."]],
  [
    "featured_image",
    `https://a.example/${"👟".repeat(2_031)}`,
    ["TOO_LONG", "featured_image must have at most 2048 characters."],
  ],
  ["images", Array.from({ length: 251 }, () => "//a.example"), ["TOO_LONG", "images must hold at most 250 URLs."]],
];
const badUrls = [
  "javascript:alert(1)",
  "JavaScript://a.example/%0aalert(1)",
  "data:text/html,x",
  "ftp://a.example/x",
  "file:///etc/passwd",
  "blob:https://a.example/x",
  "https://",
  "http:///",
  "//",
  "///",
  "https:a.example",
  "https:/a.example",
  "/x.jpg",
  "x.jpg",
  "a.example",
  " https://a.example",
  "https://a.example\n",
  "https://a b/",
  "https://a.example:99999/",
  "java\nscript:alert(1)",
  "https://[::1",
];
const refusedUrls = badUrls.flatMap((value): Case[] => [
  ["url", value, ["INVALID_VALUE", notWeb("url", value)]],
  ["featured_image", value, ["INVALID_VALUE", notWeb("featured_image", value)]],
  ["images", ["//a.example", value], ["INVALID_VALUE", notWeb("images[1]", value), "images", 1]],
]);
const unknown = [
  "colour",
  "Id",
  "featuredImage",
  "constructor",
  "toString",
  "hasOwnProperty",
  "",
  "a b",
  "k".repeat(70),
];
const refusedNames = unknown.map((field): Case => {
  const shown = field.length > 60 ? `${field.slice(0, 60)}…` : field;
  return [field, 1, ["UNKNOWN_FIELD", `A product has no field "${shown}".`, shown]];
});
const refusedPrices = prices.map((field): Case => [
  field,
  -0.01,
  ["INVALID_VALUE", `${field} must be a finite number of 0 or more, not -0.01.`],
]);

function problemOf([field, , [code, message, ...path]]: Case, ...prefix: ExpectedProblem["path"]): ExpectedProblem {
  return { code, message, path: [...prefix, ...(path.length > 0 ? path : [field])] };
}

test.each<[string, Case[]]>([
  ["a required field that is missing", missing],
  ["a field of another type", mistyped],
  ["a text that cannot be kept", refusedTexts],
  ["a URL that is not of the web", refusedUrls],
  ["a price below zero", refusedPrices],
  ["a field that a product does not have", refusedNames],
])("%s is refused with its path, alone and in a list, in both styles, and nothing is stored", async (_what, cases) => {
  const store = await createTestStore(app);
  for (const one of [...cases.slice(0, 1), ...cases.slice(-1)]) {
    const sent = product("a", { [one[0]]: one[1] });
    expect(await store.post(paths.one, { product: sent })).toEqual(invalid(problemOf(one, "product")));
  }
  const list = cases.map(([field, value], index) => product(`p${index}`, { [field]: value }));
  const problems = cases.map((one, index) => problemOf(one, "products", index));
  expect(await store.post(paths.bulk, { products: list })).toEqual(invalid(...problems));
  const { data = { importProducts: null }, errors = [] } = await store.graphql(importMany, { products: list });
  // What is wrong in shape is found before the operation starts and has no place in it; the rest is found by the operation.
  const placeless = errors.map(({ locations: _locations, path: _path, ...error }) => error);
  expect({ data, errors: placeless }).toEqual({ data: { importProducts: null }, ...invalidVariables(...problems) });
  expect(await storedProducts(app, store)).toEqual([]);
});

test("a price_min above price_max is refused; equal is not", async () => {
  const store = await createTestStore(app);
  const problem = {
    code: "INVALID_VALUE",
    message: "price_min must not be above price_max, but 2 is above 1.99.",
    path: ["product", "price_min"],
  };
  const sent = product("a", { price_min: 2, price_max: 1.99 });
  expect(await store.post(paths.one, { product: sent })).toEqual(invalid(problem));
  expect(await storedProducts(app, store)).toEqual([]);
  expect(await store.post(paths.one, { product: { ...sent, price_max: 2 } })).toEqual(importedAnswer(1));
});
