// @tier all
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createTestStore, startApp, type TestApp, type TestStore, storeAt } from "../../../support/app.js";
import { receive } from "../../../support/http/bytes.js";
import { readPage } from "../../../support/browser/pages.js";
import { documented, paths, product } from "../../../support/products.js";
import { type Proxy, startHaproxy, startNginx } from "../../../support/process/proxies.js";
import { needed } from "../../../support/run/programs.js";
import { record, saved } from "../../../support/shows.js";
import { subscribe } from "../../../support/http/subscribe.js";

const deploying = await readFile("docs/deploying.md", "utf8");
const [nginx, haproxy] = [needed("TEST_NGINX"), needed("TEST_HAPROXY")];
const prefix = "/shop-api";

let apps: Record<"plain" | "prefixed", TestApp>;
let store: TestStore;
beforeAll(async () => {
  const [plain, prefixed] = await Promise.all([startApp(), startApp({ basePath: prefix })]);
  apps = { plain, prefixed };
  store = await createTestStore(plain);
});
afterAll(() => Promise.all(Object.values(apps).map((app) => app.close())));

const portOf = ({ url }: TestApp) => new URL(url).port;
const server = (app: TestApp) => `http://127.0.0.1:${portOf(app)}`;
const nginxAt = (location: string) => startNginx(nginx, location, false, `${prefix}/`);
const forwarded = "proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto $scheme;";
const stripping = [
  `http-request redirect code 308 location ${prefix}/ if { path ${prefix} }`,
  `http-request replace-path ${prefix}/(.*) /\\1`,
];

/** The location of nginx that removes the prefix and decodes nothing. */
function documentedLocation(app: TestApp): string {
  const [, location = ""] = /```nginx prefix\nlocation \/shop-api\/ \{\n([^]*?)\n\}\n```/u.exec(deploying) ?? [];
  return location.replace("http://127.0.0.1:4000", server(app));
}

/** How a proxy passes on what comes below the prefix, and the address that the OpenAPI document names then. */
const ways: [string, () => Promise<Proxy>, (base: string) => string][] = [
  ["nginx that removes the prefix", () => nginxAt(`proxy_pass ${server(apps.plain)}/;`), () => "."],
  [
    "nginx with HTTP/1.1 that removes the prefix",
    () => nginxAt(`proxy_pass ${server(apps.plain)}/; proxy_http_version 1.1;`),
    () => ".",
  ],
  ["nginx as in docs/deploying.md", () => nginxAt(documentedLocation(apps.plain)), () => "."],
  [
    "nginx that removes the prefix, with BASE_PATH",
    () => nginxAt(`proxy_pass ${server(apps.prefixed)}/; ${forwarded}`),
    (base) => base,
  ],
  [
    "nginx that keeps the prefix, with BASE_PATH",
    () => nginxAt(`proxy_pass ${server(apps.prefixed)}; ${forwarded}`),
    (base) => base,
  ],
  ["HAProxy that removes the prefix", () => startHaproxy(haproxy, portOf(apps.plain), stripping), () => "."],
  [
    "HAProxy that removes the prefix, with BASE_PATH",
    () => startHaproxy(haproxy, portOf(apps.prefixed), stripping),
    () => prefix,
  ],
  ["HAProxy that keeps the prefix, with BASE_PATH", () => startHaproxy(haproxy, portOf(apps.prefixed)), () => prefix],
];

describe.each(ways)("behind %s", (_, start, serverUrl) => {
  test("pages, their files, REST, GraphQL, subscriptions and redirects stay below it", async () => {
    const proxy = await start();
    onTestFinished(() => proxy.close());
    const origin = `http://127.0.0.1:${proxy.port}`;
    const base = `${origin}${prefix}`;
    for (const path of ["/", "/graphql", "/docs", "/dashboard"]) {
      const { headers, html, files } = await readPage({ url: base }, path);
      expect([path, headers.get("content-type")]).toEqual([path, "text/html; charset=utf-8"]);
      const links = [...html.matchAll(/href="(?!data:)([^"]*)"/gu)].map(([, link = ""]) => new URL(link, base + path));
      for (const { pathname } of [...links, ...files.map((file) => new URL(file, origin))]) {
        expect(pathname.startsWith(`${prefix}/`)).toBe(true);
        const { status } = await fetch(origin + pathname, { headers: { accept: "text/html" } });
        expect([pathname, status]).toEqual([pathname, 200]);
      }
    }
    const { status, headers } = await receive(origin, prefix);
    expect([301, 308]).toContain(status);
    expect(new URL(headers.location ?? "", origin).href).toBe(`${base}/`);

    const caller = storeAt(base, store);
    const shirt = product("shirt");
    expect(await caller.post(paths.one, { product: shirt })).toMatchObject({ status: 200 });
    const document: any = await (await fetch(`${base}/openapi.json`)).json();
    expect(document.servers).toMatchObject([{ url: serverUrl(base) }]);
    const named = new URL(document.servers[0].url, `${base}/openapi.json`).href.replace(/\/$/u, "");
    expect(await storeAt(named, store).get(paths.of("shirt"))).toMatchObject({ status: 200, body: documented(shirt) });

    const { id: lsId } = await saved(store);
    const query = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { kpis { orders { total } } } }";
    const leaving = new AbortController();
    const values = subscribe({ url: base }, store, { query, variables: { lsId } }, leaving.signal);
    expect((await values.next()).value.data.liveStreamAnalytics.kpis.orders.total).toBe(0);
    await caller.graphql(record, { lsId, events: [{ id: "e1", type: "ORDER", channel: "LIVE", amount: 1 }] });
    expect((await values.next()).value.data.liveStreamAnalytics.kpis.orders.total).toBe(1);
    leaving.abort();
  });
});

test("behind nginx as in docs/deploying.md, ids with any characters are found, and queries are kept", async () => {
  const proxy = await nginxAt(documentedLocation(apps.plain));
  onTestFinished(() => proxy.close());
  const caller = storeAt(`http://127.0.0.1:${proxy.port}${prefix}`, store);
  for (const id of ["a/b", "a%2Fb", "100%", "a b", "ü", "a//b", ".."]) {
    await caller.post(paths.one, { product: product(id) });
    expect(
      (await caller.get(`/external/product/v1/${encodeURIComponent(id).replace(/^\.\.$/u, "sku-..")}`)).body.id,
    ).toBe(id);
  }
  expect((await caller.get("/external/product/v1?ids=a%2Fb&ids=100%25")).body.totalCount).toBe(2);
});
