import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp, startApp } from "../../support/app.js";
import { receive } from "../../support/http/bytes.js";
import { readPage } from "../../support/browser/pages.js";
import { postWithKey } from "../../support/http/idempotency.js";
import { documented, paths, product } from "../../support/products.js";

const basePath = "/shop-api";

const app = await openTestApp({ basePath });
const store = await createTestStore(app);

const everywhere = ["", basePath];

describe.each(everywhere)("with BASE_PATH, below %j", (prefix) => {
  test("serves each documented path and GraphQL, by the fast path and by Yoga", async () => {
    const shirt = product("shirt");
    expect(await store.post(`${prefix}${paths.one}`, { product: shirt })).toMatchObject({ status: 200 });
    expect(await store.get(`${prefix}${paths.of("shirt")}`)).toMatchObject({ status: 200, body: documented(shirt) });
    const query = '{ product(productId: "shirt") { id } }';
    for (const path of ["/graphql", "/graphql?lane=yoga"]) {
      const answer = await store.post(`${prefix}${path}`, { query });
      expect(answer).toMatchObject({ status: 200, body: { data: { product: { id: "shirt" } } } });
    }
    const read = await store.get(`${prefix}/graphql?${new URLSearchParams({ query }).toString()}`);
    expect(read).toMatchObject({ status: 200, body: { data: { product: { id: "shirt" } } } });
  });

  test.each(["/", "/graphql", "/docs", "/dashboard", "/openapi.json", "/healthz", "/readyz", "/metrics"])(
    "%s answers",
    async (path) => {
      const { status } = await receive(app.url, `${prefix}${path}`, { headers: { accept: "text/html" } });
      expect(status).toBe(200);
    },
  );

  test("pages link to no path outside the prefix", async () => {
    for (const path of ["/", "/graphql", "/docs", "/dashboard"]) {
      const { html, files } = await readPage(app, `${prefix}${path}`);
      expect(html).not.toMatch(/(?:href|src|action)="\/|url: "\//u);
      for (const file of files) {
        expect(file.startsWith(`${prefix}/`)).toBe(true);
        expect((await fetch(`${app.url}${file}`)).status).toBe(200);
      }
    }
  });

  test("an unknown path is 404, and a wrong method is 405", async () => {
    const status = async (method: string, path: string) => (await store.fetch(`${prefix}${path}`, { method })).status;
    expect(await status("GET", "/nowhere")).toBe(404);
    expect(await status("GET", `${basePath}/shop-api/healthz`)).toBe(404);
    expect(await status("DELETE", "/docs")).toBe(405);
  });
});

test("the base path without a trailing slash redirects to the home page and keeps the query string", async () => {
  const { status, headers } = await receive(app.url, basePath);
  expect([status, headers.location]).toEqual([308, "/shop-api/"]);
  const withQuery = await receive(app.url, `${basePath}?a=b`);
  expect(withQuery.headers.location).toBe("/shop-api/?a=b");
  expect((await receive(app.url, basePath, { method: "POST" })).status).toBe(404);
  expect((await receive(app.url, "/shop-apis/docs")).status, "another path that begins alike").toBe(404);
  const { html } = await readPage(app, `${basePath}/`);
  expect(html).toContain("<code>/shop-api/docs</code>");
});

test.each([
  ["/docs/", "../docs", "/docs"],
  ["/dashboard/?store=a", "../dashboard?store=a", "/dashboard"],
  ["/tracker/v1.js/", "../v1.js", "/tracker/v1.js"],
  [`${basePath}/docs/`, "../docs", `${basePath}/docs`],
])("a page with a trailing slash, %s, redirects to %s", async (path, location, page) => {
  const { status, headers } = await receive(app.url, path);
  expect([status, headers.location]).toEqual([308, location]);
  expect(new URL(location, `${app.url}${path}`).pathname, "below any prefix of a proxy").toBe(page);
  expect((await receive(app.url, path, { method: "POST" })).status, "whatever the method").toBe(308);
});

test.each(["/nowhere/", "/docs//", "//", `${basePath}//`, "/tracker/v1.js//", paths.of("none/")])(
  "%s does not redirect",
  async (path) => {
    expect((await receive(app.url, path)).status).toBeGreaterThan(400);
  },
);

test("an import repeated below or without the prefix counts as the same call", async () => {
  const body = { product: product("once") };
  const first = await postWithKey(store, paths.one, body, "key-1");
  const again = await postWithKey(store, `${basePath}${paths.one}`, body, "key-1");
  expect(again).toEqual({ ...first, replayed: "true" });
});

test("the access log and the metrics name the same routes", async () => {
  await store.get(`${basePath}${paths.of("none")}`);
  await fetch(`${app.url}${basePath}`, { redirect: "manual" });
  await fetch(`${app.url}${basePath}/docs/`, { redirect: "manual" });
  const routes = app.accessLog.map((line) => (JSON.parse(line) as { route: string }).route);
  expect(routes).toContain("/external/product/v1/:productId");
  expect(routes.filter((route) => route.startsWith(basePath))).toEqual([]);
});

test("without BASE_PATH no prefix is served", async () => {
  const plain = await startApp();
  expect((await fetch(`${plain.url}${basePath}/docs`)).status).toBe(404);
  await plain.close();
});
