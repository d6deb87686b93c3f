import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestStore, startApp, type TestApp, type TestStore } from "../../support/app.js";
import { until } from "../../support/until.js";
import { importMany, paths, product, products } from "../../support/products.js";
import { saved } from "../../support/shows.js";
import { largeFile } from "../../support/http/largeFile.js";
import { converse } from "../../support/http/socket.js";
import { subscribe } from "../../support/http/subscribe.js";

let app: TestApp;
let store: TestStore;
beforeEach(async () => {
  app = await startApp();
  store = await createTestStore(app);
});
afterEach(() => app.close());

/** What the lines of the requests so far say, once there are so many; but for when, by which process and how long. */
async function lines(count: number): Promise<Record<string, unknown>[]> {
  await until(() => app.accessLog.length >= count, `${count} lines`);
  return app.accessLog.map((line) => {
    const { time, pid, hostname, ms, ...said } = JSON.parse(line) as Record<string, unknown>;
    expect([typeof time, typeof pid, typeof hostname]).toEqual(["number", "number", "string"]);
    expect(ms).toBeGreaterThan(0);
    return said;
  });
}

const common = { level: 30, msg: "request", requestId: expect.stringMatching(/^[\w-]{36}$/u) };

describe("a request is logged in one line", () => {
  test("also where it was pipelined behind another one, and its client left before its turn", async () => {
    const socket = connect(Number(new URL(app.url).port), "127.0.0.1");
    const head = `Host: x\r\nX-Service-Access-Token: ${store.token}\r\n`;
    const { id } = await saved(store);
    const query = encodeURIComponent(`subscription { liveStreamAnalytics(lsId: "${id}") { id } }`);
    socket.write(`GET /graphql?query=${query} HTTP/1.1\r\n${head}Accept: text/event-stream\r\n\r\n`);
    await once(socket, "data");
    for (let n = 0; n < 20; n += 1) socket.write(`GET ${paths.of("a")} HTTP/1.1\r\n${head}\r\n`);
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    const begun = async () => (await (await fetch(`${app.url}/metrics`)).text()).includes("PRODUCT_NOT_FOUND");
    await until(begun, "the pipelined requests to begin");
    socket.destroy();
    const ends = (await lines(21)).map(({ route }) => route);
    process.off("warning", onWarning);
    expect(ends.filter((route) => route === "/external/product/v1/:productId")).toHaveLength(20);
    expect(warnings).toEqual([]);
  });

  test("of REST: with the path pattern, never the path that was sent", async () => {
    const get = { method: "GET", route: "/external/product/v1/:productId", bytes: expect.any(Number) };
    await store.post(paths.one, { product: product("a") });
    await store.fetch(`${paths.of("a")}?siteId=`, { headers: { "X-Request-Id": "mine" } });
    await store.get(paths.of("private-id"));
    await fetch(`${app.url}${paths.of("a")}`);
    await store.fetch(paths.of("a"), { method: "PUT" });
    await store.get("/private-path?x=1");
    const execution = "compiled";
    const post = { ...common, store: store.id, method: "POST", route: paths.one, bytes: expect.any(Number) };
    const other = { ...common, route: "other", bytes: expect.any(Number) };
    expect(await lines(6)).toEqual([
      { ...post, operation: "importProduct", execution, status: 200, outcome: "ok" },
      {
        ...common,
        requestId: "mine",
        store: store.id,
        ...get,
        operation: "product",
        execution,
        status: 200,
        outcome: "ok",
      },
      {
        ...common,
        store: store.id,
        ...get,
        operation: "product",
        execution,
        status: 400,
        outcome: "PRODUCT_NOT_FOUND",
      },
      { ...common, ...get, status: 401, outcome: "UNAUTHENTICATED" },
      { ...other, method: "PUT", status: 405, outcome: "METHOD_NOT_ALLOWED" },
      { ...other, method: "GET", status: 404, outcome: "NOT_FOUND" },
    ]);
    expect(app.accessLog.join("")).not.toContain("private");
    expect(app.logged).toEqual([]);
  });

  test("of GraphQL: with the kind, name and root fields of the operation, on every execution path", async () => {
    const query = `query Window($id: String!) { ...P products { nodes { id } } __typename }
      fragment P on Query { private: product(productId: $id) { id } }`;
    for (let n = 0; n < 4; n += 1) await store.graphql(query, { id: "private" });
    await store.graphql(importMany, { products: products(1, () => ({ price: -1 })) });
    await store.graphql("{ nothing }");
    await store.graphql("{ products");
    await store.graphql("{ __typename }");
    const line = {
      ...common,
      store: store.id,
      method: "POST",
      route: "/graphql",
      status: 200,
      bytes: expect.any(Number),
    };
    const found = await lines(8);
    const window = { ...line, operation: "query Window: product, products", outcome: "PRODUCT_NOT_FOUND" };
    const executions = ["yoga", "interpreted", "compiled", "compiled"];
    expect(found.slice(0, 4)).toEqual(executions.map((execution) => ({ ...window, execution })));
    const operation = expect.stringMatching(/^mutation\b.*: importProducts$/u);
    expect(found.slice(4)).toEqual([
      { ...line, operation, execution: "yoga", outcome: "VALIDATION_FAILED" },
      { ...line, outcome: "BAD_REQUEST" },
      { ...line, outcome: "BAD_REQUEST" },
      { ...line, operation: "query", execution: "yoga", outcome: "ok" },
    ]);
    expect(app.accessLog.join("")).not.toContain("private");
  });

  test("of GraphQL: of bounded length, whatever the operation", async () => {
    const all = "product products liveStream liveStreams liveStreamAnalytics __schema".split(" ");
    const fields = `products { nodes { id } } liveStreams { nodes { id } } product(productId: "a") { id }
      liveStream(lsId: "a") { id } liveStreamAnalytics(lsId: "a") { id } __typename`;
    await store.graphql(`query ${"N".repeat(41)} { ${fields} }`);
    await store.graphql(`query ${"N".repeat(40)} { ${fields} }`);
    const operations = (await lines(2)).map(({ operation }) => String(operation));
    expect(operations[0]).toMatch(/^query: \w+(, \w+){4}$/u);
    expect(operations[1]).toMatch(/^query N{40}: \w+(, \w+){4}$/u);
    expect(
      operations[0]
        ?.match(/\w+/gu)
        ?.slice(1)
        .every((name) => all.includes(name)),
    ).toBe(true);
  });

  test("when a subscription ends, not when it starts", async () => {
    const { id: lsId } = await saved(store);
    const stop = new AbortController();
    const query = "subscription Watch($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { id } }";
    const events = subscribe(app, store, { query, variables: { lsId } }, stop.signal);
    expect((await events.next()).value).toEqual({ data: { liveStreamAnalytics: { id: lsId } } });
    expect(await lines(1)).toHaveLength(1); // that of saving the show
    stop.abort();
    const [, line] = await lines(2);
    expect(line).toEqual({
      ...common,
      store: store.id,
      method: "POST",
      route: "/graphql (subscription)",
      operation: "subscription Watch: liveStreamAnalytics",
      execution: "interpreted",
      status: 200,
      outcome: "ok",
    });
  });

  test("as aborted, without a status, if the client disconnects before the response", async () => {
    const headers = { "content-type": "application/json", "X-Service-Access-Token": store.token };
    const outgoing = request(`${app.url}${paths.bulk}`, { method: "POST", headers, agent: false });
    outgoing.on("error", () => undefined);
    await new Promise((resolve) => outgoing.write('{"products": [', resolve));
    outgoing.destroy();
    expect(await lines(1)).toEqual([
      expect.objectContaining({ method: "POST", route: paths.bulk, status: 0, outcome: "aborted" }),
    ]);
  });

  test("as aborted, with its status, if the client disconnects amid the response", async () => {
    const file = await largeFile(app);
    const before = app.accessLog.length;
    const { socket } = converse(app.url, file.request);
    await once(socket, "data");
    socket.destroy();
    expect((await lines(before + 1)).slice(before)).toEqual([
      expect.objectContaining({ method: "GET", route: file.path, status: 200, outcome: "aborted" }),
    ]);
  });
});

describe("LOG_LEVEL", () => {
  const ask = async ({ url }: TestApp) => {
    for (const path of ["/healthz", "/readyz", "/metrics", "/nowhere"]) await fetch(`${url}${path}`);
  };
  const routes = (log: readonly string[]) => log.map((line) => (JSON.parse(line) as { route: string }).route);

  test("info omits probes, debug includes them, warn logs no requests", async () => {
    const [debug, warn] = [await startApp({ logLevel: "debug" }), await startApp({ logLevel: "warn" })];
    try {
      for (const other of [debug, app, warn]) await ask(other);
      await until(() => debug.accessLog.length === 4 && app.accessLog.length > 0, "their lines");
      expect(routes(debug.accessLog)).toEqual(["/healthz", "/readyz", "/metrics", "other"]);
      expect(routes(app.accessLog)).toEqual(["other"]);
      expect([...warn.accessLog, ...warn.logged]).toEqual([]);
    } finally {
      await debug.close();
      await warn.close();
    }
  });
});
