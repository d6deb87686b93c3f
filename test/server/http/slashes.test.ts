import { describe, expect, test } from "vitest";
import { addHook } from "../../../src/orders/hooks/hook.js";
import { setStore } from "../../../src/stores/store.js";
import { issueKey } from "../../../src/stores/publicKey.js";
import { exportRoutes } from "../../../src/api/rest/exports/export.routes.js";
import { restBase } from "../../../src/api/rest/routes/route.js";
import { restRoutes } from "../../../src/api/rest/routes/routes.js";
import { createTestStore, openTestApp, startApp } from "../../support/app.js";
import { storeWithShow } from "../../support/events.js";
import { paths, product } from "../../support/products.js";

const app = await openTestApp({ analyticsRateLimit: 0, trackingPath: "/shop" });
const store = await createTestStore(app);

const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const documented = [...restRoutes, ...exportRoutes].map((route) => ({
  method: "method" in route ? route.method : "GET",
  path: `${restBase}${route.path.replaceAll(/:\w+/gu, "a%2Fb")}`,
}));
const pages = ["/docs", "/openapi.json", "/dashboard", "/healthz", "/readyz", "/metrics", "/graphql"];
const known = [
  ...documented,
  { method: "DELETE", path: paths.one },
  ...pages.map((path) => ({ method: "GET", path })),
  { method: "POST", path: "/graphql" },
];

describe("one slash at the end of a known path redirects to the path without it", () => {
  test.each(known)("$method $path", async ({ method, path }) => {
    const response = await fetch(`${app.url}${path}/?a=%2F&b`, { method, redirect: "manual" });
    const location = response.headers.get("location") ?? "";
    expect([response.status, new URL(location, `${app.url}${path}/`).href]).toEqual([308, `${app.url}${path}?a=%2F&b`]);
    expect(location).toMatch(/^\.\.\//u); // so that it stays below a prefix that a proxy removes
  });

  test("also below a base path, with method and body", async () => {
    const prefixed = await startApp({ basePath: "/api" });
    const own = await createTestStore(prefixed);
    const body = JSON.stringify({ product: product("a") });
    const options = { method: "POST", headers: { "content-type": "application/json" }, body };
    expect((await own.fetch(`/api${paths.one}/`, options)).status).toBe(200);
    expect(await (await own.fetch(`/api${paths.of("a")}/`)).json()).toMatchObject({ id: "a" });
    expect((await own.fetch("/api/")).status).toBe(200);
    await prefixed.close();
  });
});

test.each([`${paths.of("a")}//`, "/external/", "/unknown/", "/docs//", "/external/product/v1//"])(
  "no other path is redirected: %s",
  async (path) => {
    const { status } = await store.fetch(path, { redirect: "manual" });
    expect(status).toBe(404);
  },
);

test("hooks and collect answer as without the slash: their senders do not follow redirects", async () => {
  const { store: own, lsId } = await storeWithShow(app);
  const { key } = await issueKey(app.db, own.id, { origins: ["https://shop.example"] });
  const event = { id: "e", type: "VIEW", seconds: 5 };
  for (const path of ["/collect/v1/", "/shop/v1/"]) {
    const body = JSON.stringify({ key, show: lsId, channel: "LIVE", viewer: "v", events: [{ ...event, id: path }] });
    const headers = {
      origin: "https://shop.example",
      "content-type": "text/plain",
      "user-agent": browser,
    };
    const response = await fetch(app.url + path, { method: "POST", headers, body, redirect: "manual" });
    expect([response.status, await response.json()]).toEqual([202, { accepted: 1, duplicates: 0 }]);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  }
  await setStore(app.db, own.id, { currency: "EUR" });
  const hook = await addHook(app.db, own.id, { from: "woocommerce", secret: "a secret" });
  const ping = { method: "POST", body: "webhook_id=1", redirect: "manual" } as const;
  expect((await fetch(`${app.url}/hooks/v1/${hook.id}/`, ping)).status).toBe(200);
  expect((await fetch(`${app.url}/hooks/v1/unknown/`, ping)).status).toBe(401);
});

describe("If-None-Match has a tag as proxies that compress change it", () => {
  test.each(["", "-gzip", "--gzip", "-br", ";gzip", ";br"])("with %j at its end", async (suffix) => {
    await store.post(paths.one, { product: product("a") });
    for (const path of [paths.of("a"), "/docs"]) {
      const tag = (await store.fetch(path)).headers.get("etag") ?? "";
      const sent = tag.replace(/"$/u, `${suffix}"`);
      for (const list of [sent, sent.slice("W/".length), `"x", ${sent}`]) {
        expect((await store.fetch(path, { headers: { "if-none-match": list } })).status).toBe(304);
      }
      const others = [`${tag.slice(0, -2)}_${suffix}"`, tag.replace(/"$/u, '-other"')];
      for (const other of others) {
        expect((await store.fetch(path, { headers: { "if-none-match": other } })).status).toBe(200);
      }
    }
  });
});
