import { beforeAll, expect, test } from "vitest";
import { addSite } from "../../src/stores/site.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { bulk, importMany, paths, product } from "../support/products.js";

const app = await openTestApp();
const store = await createTestStore(app);
beforeAll(async () => {
  await addSite(app.db, store.id, "de", "SHOP");
  await store.post(paths.bulk, bulk([product("a"), product("b")]));
});

const post = (body: object) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const site = { siteId: "de", siteType: "SHOP" };
const csv = { method: "POST", headers: { "content-type": "text/csv" }, body: "id,sku\n" };
const readQuery = `query ($siteId: String) { product(productId: "a", siteId: $siteId) { id } }`;

const calls: readonly (readonly [name: string, path: string, options: RequestInit])[] = [
  ["a read", `${paths.of("a")}?siteId=de`, {}],
  ["a read that is refused", `${paths.of("a")}?siteId=nowhere`, {}],
  ["a siteType alone", `${paths.of("a")}?siteType=SHOP`, {}],
  ["an import", paths.bulk, post({ ...bulk([product("a")]), ...site })],
  ["an import that is refused", paths.one, post({ product: { id: "a" }, ...site })],
  ["a file", `${paths.csv}?siteId=de`, csv],
  ["an export", `${paths.csv}?siteId=de`, {}],
  ["its HEAD", `${paths.bulk}?siteId=de`, { method: "HEAD" }],
  ["a GraphQL query", "/graphql", post({ query: readQuery, variables: { siteId: "de" } })],
  ["a GraphQL import", "/graphql", post({ query: importMany, variables: { products: [product("a")], ...site } })],
  ["a deletion", `${paths.of("b")}?siteId=de`, { method: "DELETE" }],
];

test.each(calls)("the response to %s that uses a site has the headers Deprecation and Link", async (...call) => {
  const [, path, options] = call;
  const response = await store.fetch(path, options);
  await response.text();
  expect(response.headers.get("deprecation")).toBe(`@${Date.parse("2026-11-21T00:00:00Z") / 1_000}`);
  const [, target = ""] =
    /^<([^>]+)>; rel="deprecation"; type="text\/html"$/u.exec(response.headers.get("link") ?? "") ?? [];
  const url = new URL(target, `${app.url}/behind/a/proxy${path}`);
  expect(url.pathname).toBe("/behind/a/proxy/docs");
  expect((await fetch(new URL(target, `${app.url}${path}`))).status).toBe(200);
});

test("calls without a site, or with empty ones, have no such headers", async () => {
  for (const [path, options] of [
    [paths.of("a"), {}],
    [`${paths.of("a")}?siteId=&siteType=`, {}],
    [paths.bulk, post({ ...bulk([product("a")]), siteId: "", siteType: null })],
    [paths.csv, {}],
    ["/graphql", post({ query: readQuery })],
  ] as const) {
    const response = await store.fetch(path, options);
    await response.text();
    expect([path, response.headers.get("deprecation"), response.headers.get("link")]).toEqual([path, null, null]);
  }
});
