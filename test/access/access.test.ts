import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../support/app.js";
import { readAnswer } from "../support/call.js";
import { refusal } from "../support/problems.js";

const app = await openTestApp();

const product = {
  id: "shirt",
  sku: "S-1",
  title: "Shirt",
  available: true,
  featured_image: "https://shop.example/shirt.jpg",
  url: "https://shop.example/shirt",
};

const missing = refusal("UNAUTHENTICATED", "The header X-Service-Access-Token is missing.");
const invalid = refusal("UNAUTHENTICATED", "The access token is not valid.");

async function call(
  headers: [string, string][] | Record<string, string>,
  path = "/external/product/v1/none",
  options: RequestInit = {},
) {
  return readAnswer(await fetch(`${app.url}${path}`, { ...options, headers }));
}

describe("every documented path needs the token", () => {
  test.each([
    ["POST", "/external/product/v1", { product }],
    ["POST", "/external/product/v1/bulk", { products: [product] }],
    ["POST", "/external/product/v1/bulk/csv", { csvContent: "id,sku" }],
    ["GET", "/external/product/v1/shirt", undefined],
    ["DELETE", "/external/product/v1/shirt", undefined],
  ])("%s %s answers 401 without a token and with a wrong one, and changes nothing", async (method, path, json) => {
    const store = await createTestStore(app);
    await store.post("/external/product/v1", { product });
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const type: Record<string, string> = { "content-type": "application/json" };
    expect(await call(type, path, { method, ...body })).toEqual(missing);
    expect(
      await call({ ...type, "x-service-access-token": `vt_${"A".repeat(43)}` }, path, { method, ...body }),
    ).toEqual(invalid);
    expect((await store.get("/external/product/v1/shirt")).status).toBe(200);
  });

  test("a 401 names the header to send", async () => {
    const { headers } = await fetch(`${app.url}/external/product/v1/none`);
    expect(headers.get("www-authenticate")).toBe('ApiKey header="X-Service-Access-Token"');
  });

  test("the token is checked before the body: a body of the wrong type is 401 without one", async () => {
    expect(await call({ "content-type": "text/plain" }, "/external/product/v1", { method: "POST", body: "{" })).toEqual(
      missing,
    );
  });
});

describe("every GraphQL operation needs the token", () => {
  const operations = [
    '{ product(productId: "shirt") { id } }',
    "{ products { nodes { id } } }",
    "{ __typename }",
    "{ __schema { queryType { name } } }",
    'query Introspection { __type(name: "Product") { fields { name } } }',
    'mutation { deleteProduct(productId: "shirt") { message } }',
    'mutation { importProductsCsv(csvContent: "id,sku") { imported } }',
    "subscription { anything }",
    "not even { GraphQL",
  ];

  test.each(operations)("%s", async (query) => {
    const post = { method: "POST", body: JSON.stringify({ query }) };
    const json = { "content-type": "application/json" };
    for (const [header, { body }] of [
      [{}, missing],
      [{ "x-service-access-token": "vt_wrong" }, invalid],
    ] as const) {
      const { detail, code, errors, errorsTotal } = body;
      expect(await call({ ...json, ...header }, "/graphql", post)).toEqual({
        status: 401,
        type: "application/json; charset=utf-8",
        body: { errors: [{ message: detail, extensions: { code, errors, errorsTotal } }] },
      });
      expect((await call(header, `/graphql?query=${encodeURIComponent(query)}`)).status).toBe(401);
    }
  });
});

describe("the header", () => {
  test("has a case-insensitive name and an exact value", async () => {
    const { token } = await createTestStore(app);
    expect((await call({ "X-SERVICE-Access-Token": token })).status).toBe(400);
    for (const wrong of [
      `Bearer ${token}`,
      `"${token}"`,
      token.toUpperCase(),
      `${token}x`,
      token.slice(0, -1),
      token.slice(3),
    ]) {
      expect(await call({ "x-service-access-token": wrong }), wrong).toEqual(invalid);
    }
  });

  test("is the only way to send a token", async () => {
    const { token } = await createTestStore(app);
    expect(await call({ authorization: `Bearer ${token}`, cookie: `X-Service-Access-Token=${token}` })).toEqual(
      missing,
    );
    const path = `/external/product/v1/none?X-Service-Access-Token=${token}&accessToken=${token}`;
    expect(await call({}, path)).toEqual(missing);
  });

  test("sent twice is refused, even with the same value", async () => {
    const { token } = await createTestStore(app);
    const other = await createTestStore(app);
    for (const second of [token, other.token]) {
      const doubled: [string, string][] = [
        ["x-service-access-token", token],
        ["x-service-access-token", second],
      ];
      expect(await call(doubled)).toEqual(invalid);
    }
  });

  test("empty or very long is a 401", async () => {
    expect(await call({ "x-service-access-token": "" })).toEqual(missing);
    expect(await call({ "x-service-access-token": "x".repeat(10_000) })).toEqual(invalid);
  });
});
