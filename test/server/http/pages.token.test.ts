import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Exchange } from "../../../src/server/http/exchange.js";
import { createTokenPage } from "../../../src/server/pages/pageToken.js";
import { startApp, type TestApp } from "../../support/app.js";
import { receive } from "../../support/http/bytes.js";
import { answerTo } from "../../support/http/socket.js";

const token = `demo-token-</script>"${"x".repeat(20)}`;
const held = JSON.stringify(token)
  .slice(1, -1)
  .replaceAll("<", String.raw`\u003c`);
const shop = {
  key: "vp_key",
  origins: ["http://127.0.0.1:4000"],
  show: { id: "autumn-looks", name: "Autumn </script> looks" },
  products: [{ id: "shirt", title: "Shirt <b>", price: 12.5 }],
  currency: "EUR",
};
let app: TestApp;
let production: TestApp;
beforeAll(async () => {
  [app, production] = await Promise.all([startApp(), startApp({ production: true })]);
  for (const one of [app, production]) {
    one.showDemoToken(token);
    one.showDemoShop(shop);
  }
});
afterAll(() => Promise.all([app.close(), production.close()]));

function read(path: string, headers: Readonly<Record<string, string>> = {}, { url }: Pick<TestApp, "url"> = app) {
  return receive(url, path, { headers: { accept: "text/html", ...headers } });
}

test.each(["/graphql", "/docs"])(
  "%s contains the demo token for a browser on this machine, which may not cache the page",
  async (path) => {
    const { port } = new URL(app.url);
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]) {
      const { status, headers, bytes } = await read(path, { host });
      expect({ status, cacheControl: headers["cache-control"] }).toEqual({ status: 200, cacheControl: "no-store" });
      expect(bytes.toString()).toContain(held);
      expect(bytes.toString(), "it ends no script").not.toContain(token);
    }
  },
);

test.each([
  ["a script of another site", { origin: "https://elsewhere.example" }],
  ["a site whose name resolves to this machine", { host: "elsewhere.example" }],
  ["another machine's name", { host: "10.0.0.5:4000" }],
  ["a proxy that sends X-Forwarded-For", { "x-forwarded-for": "10.0.0.9" }],
  ["a proxy that sends Forwarded", { forwarded: "for=10.0.0.9" }],
  ["a proxy that sends Via", { via: "1.1 proxy" }],
])("%s gets the pages without the demo token", async (_, headers: Record<string, string>) => {
  for (const path of ["/graphql", "/docs", "/demo"]) {
    await read(path);
    const answer = await read(path, headers);
    expect({ status: answer.status, cacheControl: answer.headers["cache-control"] }).toEqual({
      status: 200,
      cacheControl: "no-cache",
    });
    expect(answer.bytes.toString()).not.toContain("demo-token");
  }
});

test.each(
  (
    "x-real-ip x-forwarded x-forwarded-host x-forwarded-proto x-forwarded-prefix x-forwarded-anything x-original-forwarded-for " +
    "x-original-host x-client-ip x-cluster-client-ip cf-connecting-ip cf-ray true-client-ip fastly-client-ip fly-client-ip client-ip " +
    "x-envoy-external-address x-appengine-user-ip x-azure-clientip x-amzn-trace-id cdn-loop proxy-connection x-proxyuser-ip"
  ).split(" "),
)("a request with the header %s gets the pages without the demo token", async (name) => {
  for (const path of ["/graphql", "/docs", "/demo"]) {
    const { status, bytes } = await read(path, { [name]: "10.0.0.9" });
    expect(status).toBe(200);
    expect(bytes.toString()).not.toContain("demo-token");
  }
});

test.each(["/graphql", "/docs", "/demo"])(
  "%s over HTTP/1.0, the default of nginx, is without the demo token",
  async (path) => {
    const ask = (version: string) =>
      answerTo(
        app.url,
        `GET ${path} HTTP/${version}\r\nHost: 127.0.0.1\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
      );
    expect(await ask("1.1")).toContain("demo-token");
    const answer = await ask("1.0");
    expect(answer).toContain("200 OK");
    expect(answer).not.toContain("demo-token");
  },
);

test.each([
  ["127.0.0.1", true],
  ["127.8.9.10", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["10.0.0.9", false],
  ["::ffff:10.0.0.9", false],
  ["2001:db8::1", false],
  ["127.0.0.1.example", false],
  [undefined, false],
])("a connection from %s gets a page with the demo token: %s", async (remoteAddress, isShown) => {
  const page = createTokenPage(
    (known = "no token") => known,
    () => "demo-token",
  );
  const server = createServer((request, response) => {
    Object.defineProperty(request.socket, "remoteAddress", { value: remoteAddress });
    void page({ request, response } as Exchange); // it reads nothing else of the exchange
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { bytes } = await read("/", {}, { url: `http://127.0.0.1:${port}` });
  expect(bytes.toString()).toBe(isShown ? "demo-token" : "no token");
});

test("no other page, and none in production, contains the demo token", async () => {
  for (const path of ["/", "/openapi.json", "/healthz"]) {
    expect((await read(path)).bytes.toString()).not.toContain("demo-token");
  }
  for (const path of ["/graphql", "/docs", "/demo"]) {
    const { status, bytes } = await read(path, {}, production);
    expect(status).toBe(200);
    expect(bytes.toString()).not.toContain("demo-token");
  }
});

test("/demo needs no token, and its link opens the dashboard on this machine only", async () => {
  const links = async (headers = {}) =>
    [...(await read("/demo", headers)).bytes.toString().matchAll(/href="(dashboard[^"]*)"/gu)].map(([, link]) => link);
  const own = `dashboard?show=autumn-looks#token=${encodeURIComponent(token)}`;
  expect(await links()).toEqual([own, own]);
  expect(await links({ via: "1.1 proxy" })).toEqual(["dashboard?show=autumn-looks", "dashboard?show=autumn-looks"]);
  const text = (await read("/demo")).bytes.toString();
  expect(text).toContain("Shirt &lt;b>");
  expect(text.match(/<\/script>/gu), "names end no script").toHaveLength(2);
});

test("without the demo store there is no /demo, and the home page does not link to it", async () => {
  const other = await startApp();
  onTestFinished(() => other.close());
  for (const path of ["/demo", "/demo/linen-shirt.svg"]) expect((await read(path, {}, other)).status).toBe(404);
  expect((await read("/demo/linen-shirt.svg")).headers["content-type"]).toBe("image/svg+xml");
  expect((await read("/", {}, other)).bytes.toString()).not.toContain("demo");
  expect((await read("/")).bytes.toString()).toContain('href="demo"');
});
