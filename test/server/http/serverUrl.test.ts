import { request } from "node:http";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApp, type TestApp } from "../../support/app.js";

let apps: Record<"unknown" | "root" | "prefix", TestApp>;
beforeAll(async () => {
  const [unknown, root, prefix] = await Promise.all([
    startApp(),
    startApp({ basePath: "" }),
    startApp({ basePath: "/shop-api" }),
  ]);
  apps = { unknown, root, prefix };
});
afterAll(() => Promise.all(Object.values(apps).map((app) => app.close())));

/** The address that the document names, and whether shared caches may store it. */
async function serverOf({ url }: TestApp, headers: Readonly<Record<string, string>> = {}) {
  const outgoing = request(url, { path: "/openapi.json", headers: { connection: "keep-alive", ...headers } });
  const incoming = await new Promise<any>((resolve, reject) => {
    outgoing.once("response", resolve).once("error", reject).end();
  });
  const document: any = await json(incoming);
  const [server, ...others] = document.servers;
  expect(others).toEqual([]);
  expect(incoming.headers["cache-control"]).toBe(/^https?:/u.test(server.url) ? "private, no-cache" : "no-cache");
  return server.url as string;
}

describe("the OpenAPI document names the server", () => {
  test("by the address that the caller uses, without a proxy", async () => {
    const { unknown, root, prefix } = apps;
    const { port } = new URL(unknown.url);
    expect(await serverOf(unknown)).toBe(unknown.url);
    expect(await serverOf(root)).toBe(root.url);
    expect(await serverOf(prefix)).toBe(`${prefix.url}/shop-api`);
    for (const name of ["localhost", "shop.example", "[::1]", "10.0.0.5"]) {
      expect(await serverOf(unknown, { host: `${name}:${port}` })).toBe(`http://${name}:${port}`);
    }
  });

  test.each([
    ["another port than the server's", { host: "shop.example" }],
    ["a header of a proxy", { "x-forwarded-for": "10.0.0.9" }],
    ["a proxy that says all but the prefix", { host: "shop.example", "x-forwarded-proto": "https" }],
    ["nginx with HTTP/1.1, whose Host is the server's own", { connection: "close" }],
    ["no valid host", { host: 'shop.example"><script>:80' }],
    ["an endless host", { host: "a".repeat(300) }],
  ])("relative to the document if its address is unknown: %s", async (_, headers: Record<string, string>) => {
    expect(await serverOf(apps.unknown, headers)).toBe(".");
    if (headers["x-forwarded-proto"] !== undefined) return;
    expect(await serverOf(apps.root, headers)).toBe("/");
    expect(await serverOf(apps.prefix, headers)).toBe("/shop-api");
  });

  test("by the headers of a proxy, with BASE_PATH", async () => {
    const proxied = { host: "shop.example", "x-forwarded-proto": "https" };
    expect(await serverOf(apps.prefix, proxied)).toBe("https://shop.example/shop-api");
    expect(await serverOf(apps.root, proxied)).toBe("https://shop.example");
    expect(await serverOf(apps.root, { ...proxied, "x-forwarded-host": "shop.example" })).toBe("https://shop.example");
    expect(await serverOf(apps.root, { host: "127.0.0.1:8080", "x-forwarded-proto": "http" })).toBe(
      "http://127.0.0.1:8080",
    );
  });

  test.each([
    ["another host", { "x-forwarded-host": "evil.example" }],
    ["another form of headers", { forwarded: "host=evil.example;proto=https" }],
    ["another protocol", { "x-forwarded-proto": "javascript" }],
    ["several protocols", { "x-forwarded-proto": "https, http" }],
    ["an address without its port", { host: "127.0.0.1" }],
    ["a name of this machine", { host: "localhost" }],
  ])("by its path alone if a proxy sends %s", async (_, headers: Record<string, string>) => {
    const proxied = { host: "shop.example", "x-forwarded-proto": "https", ...headers };
    expect(await serverOf(apps.prefix, proxied)).toBe("/shop-api");
  });
});

test("documents for many addresses each have an entity tag of their own", async () => {
  const { port } = new URL(apps.unknown.url);
  const tags = new Set<string>();
  for (let n = 0; n < 40; n += 1) {
    const outgoing = request(apps.unknown.url, {
      path: "/openapi.json",
      headers: { host: `shop-${n}.example:${port}`, connection: "keep-alive" },
    });
    const incoming = await new Promise<any>((resolve) => outgoing.once("response", resolve).end());
    incoming.resume();
    tags.add(incoming.headers.etag);
  }
  expect(tags.size).toBe(40);
});
