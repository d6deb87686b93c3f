import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { randomUUID } from "node:crypto";
import { packageVersion } from "../../../src/lib/packageFiles.js";
import { createTestStore, startApp, type TestApp, type TestStore } from "../../support/app.js";
import { exchange } from "../../support/http/exchange.js";
import { counts, scrape, untilSeries } from "../../support/process/metrics.js";
import { until } from "../../support/until.js";
import { bulk, paths, product, products } from "../../support/products.js";
import { analyticsPath, record, saved } from "../../support/shows.js";
import { subscribe } from "../../support/http/subscribe.js";

let app: TestApp;
let store: TestStore;
beforeEach(async () => {
  app = await startApp({ analyticsRateLimit: 2, corsOrigins: ["*"] });
  store = await createTestStore(app);
});
afterEach(() => app.close());

const series = (name: string, labels: Readonly<Record<string, string>>) =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(",")}}`;
const requests = (method: string, route: string, status: string) =>
  series("vitrine_http_request_duration_seconds_count", { method, route, status });
const operations = (style: string, field: string, outcome: string) =>
  series("vitrine_operations_total", { style, field, outcome });

describe("/metrics", () => {
  test("is in the Prometheus text format, for GET and HEAD, without a token", async () => {
    const answer = await fetch(`${app.url}/metrics`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
    ]);
    const lines = (await answer.text()).trimEnd().split("\n");
    const line =
      /^(# (HELP|TYPE) [a-z0-9_]+ .+|[a-z][a-z0-9_]*(\{\w+="[^"\\]*"(,\w+="[^"\\]*")*\})? (-?[\d.e+-]+|\+Inf))?$/u;
    expect(lines.filter((text) => !line.test(text))).toEqual([]);
    expect((await fetch(`${app.url}/metrics`, { method: "HEAD" })).status).toBe(200);
    expect((await fetch(`${app.url}/metrics`, { method: "POST" })).status).toBe(405);
  });

  test("counts requests by route, and operations by root field and outcome", async () => {
    await store.post(paths.one, { product: product("a") });
    await store.get(paths.of("a"));
    await store.get(paths.of("b"));
    for (let n = 0; n < 4; n += 1) {
      await store.graphql(
        '{ x: product(productId: "a") { id } y: product(productId: "a") { id } products { nodes { id } } }',
      );
    }
    await store.graphql("{ nothing }");
    await store.graphql("{ __typename }");
    await fetch(`${app.url}${paths.of("a")}`);
    await untilSeries(app.url, requests("GET", "/external/product/v1/:productId", "4xx"), 2);
    expect(await counts(app.url)).toMatchObject({
      [requests("POST", paths.one, "2xx")]: 1,
      [requests("GET", "/external/product/v1/:productId", "2xx")]: 1,
      [requests("POST", "/graphql", "2xx")]: 6,
      [operations("rest", "Mutation.importProduct", "ok")]: 1,
      [operations("rest", "Query.product", "ok")]: 1,
      [operations("rest", "Query.product", "PRODUCT_NOT_FOUND")]: 1,
      [operations("graphql", "Query.product", "ok")]: 4,
      [operations("graphql", "Query.products", "ok")]: 4,
      [operations("graphql", "other", "BAD_REQUEST")]: 1,
      [operations("graphql", "other", "ok")]: 1,
    });
  });

  test("counts imports, events, refused calls, subscriptions and connections", async () => {
    const before = await counts(app.url);
    expect(before).toMatchObject({
      vitrine_imported_products_total: 0,
      vitrine_live_subscriptions: 0,
      [series("vitrine_rate_limited_total", { policy: "analytics" })]: 0,
    });
    await store.post(paths.bulk, bulk(products(3)));
    await store.post(paths.bulk, bulk(products(2, () => ({ price: -1 }))));
    const { id: lsId } = await saved(store, { status: "LIVE", durationSeconds: null });
    const event = (id: string) => ({ id, type: "ORDER", channel: "LIVE", amount: 1 });
    await store.graphql(record, { lsId, events: [event("1"), event("2"), event("1")] });
    for (let n = 0; n < 5; n += 1) await store.get(analyticsPath(lsId));
    const unlimited = await startApp({ analyticsRateLimit: 0 });
    const stop = new AbortController();
    try {
      const query = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { id } }";
      await subscribe(unlimited, store, { query, variables: { lsId } }, stop.signal).next();
      await untilSeries(unlimited.url, "vitrine_live_subscriptions", 1);
      stop.abort();
      await untilSeries(unlimited.url, "vitrine_live_subscriptions", 0);
      await untilSeries(unlimited.url, operations("graphql", "Subscription.liveStreamAnalytics", "ok"), 1);
    } finally {
      await unlimited.close();
    }
    const after = await counts(app.url);
    expect(after).toMatchObject({
      vitrine_imported_products_total: 3,
      vitrine_import_duration_seconds_count: 1,
      [series("vitrine_shopper_events_total", { result: "accepted" })]: 2,
      [series("vitrine_shopper_events_total", { result: "duplicate" })]: 1,
      [series("vitrine_rate_limited_total", { policy: "analytics" })]: 3,
      [operations("rest", "Query.liveStreamAnalytics", "ok")]: 2,
      [operations("rest", "Query.liveStreamAnalytics", "RATE_LIMITED")]: 3,
      vitrine_database_waiting: 0,
    });
    expect(after["vitrine_database_connections"]).toBeGreaterThan(0);
    expect(after["vitrine_database_connections_idle"]).toBe(after["vitrine_database_connections"]);
  });

  test("includes the process metrics, and says what runs", async () => {
    const build = `vitrine_build_info{version="${packageVersion()}",node_version="${process.version}",engine="embedded"}`;
    expect((await scrape(app.url)).get(build)).toBe(1);
    const found = await scrape(app.url);
    for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes", "process_start_time_seconds"]) {
      expect(found.get(name), name).toBeGreaterThan(0);
    }
    await until(async () => ((await scrape(app.url)).get("nodejs_eventloop_lag_max_seconds") ?? 0) > 0, "a lag");
    const utilization = (await scrape(app.url)).get("nodejs_eventloop_utilization_ratio");
    expect(utilization).toBeGreaterThanOrEqual(0);
    expect(utilization).toBeLessThanOrEqual(1);
  });
});

test("the number of series does not grow with what clients send: paths, methods, names, tokens, origins", async () => {
  const makeUp = async () => {
    const name = `n${randomUUID().replaceAll("-", "")}`;
    await store.get(`/${name}/${name}?${name}=1`);
    await store.get(paths.of(name));
    await store.get(`/external/${name}`);
    await store.get(analyticsPath(name));
    await store.graphql(`query ${name} { ${name}: products { nodes { id } } }`);
    await store.graphql(`{ ${name} }`);
    await store.graphql(`query ${name} { ...${name} } fragment ${name} on Query { ${name} }`);
    await store.graphql(`query { products(${name}: 1) { nodes { id } } }`);
    await store.post("/graphql", { query: "{ __typename }", operationName: name, [name]: name });
    await fetch(`${app.url}${paths.of(name)}`, {
      headers: { "X-Service-Access-Token": name, Origin: `https://${name}.example` },
    });
    for (const method of ["PROPFIND", "MKCOL", "PURGE", "PATCH", "OPTIONS"]) {
      await exchange(app.url, `/external/product/v1/${name}`, { method, headers: { "X-Request-Id": name } });
    }
  };
  // What is known of the process depends on what it did since the last scrape.
  const seriesNow = async () =>
    [...(await scrape(app.url)).keys()].filter((found) => found.startsWith("vitrine_")).toSorted();
  for (let n = 0; n < 3; n += 1) await makeUp();
  await untilSeries(app.url, requests("other", "other", "4xx"), 9);
  const few = await seriesNow();
  for (let n = 0; n < 2; n += 1) await makeUp();
  await untilSeries(app.url, requests("other", "other", "4xx"), 15);
  expect(await seriesNow()).toEqual(few);
});
