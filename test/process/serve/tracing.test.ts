// @tier all
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { type ReceivedSpan, spanKind, startCollector } from "../../support/process/collector.js";
import { makePlaceWithStore, type Place, removePlace, serve, type Serving } from "../../support/process.js";
import { until } from "../../support/until.js";
import { importMany, paths, products } from "../../support/products.js";

/** Each server has one of its own, since they run side by side. */
let places: Place[];
beforeAll(async () => {
  places = await Promise.all(Array.from({ length: 4 }, makePlaceWithStore));
  return async () => void (await Promise.all(places.map(removePlace)));
});

const demoToken = "demo-token-of-a-test";
const start = (at: number, env: Readonly<Record<string, string>>) =>
  serve({ ...places[at]?.env, DEMO_TOKEN: demoToken, ...env });

const read = ({ url }: Serving, path: string, headers = {}) =>
  fetch(url + path, { headers: { "X-Service-Access-Token": demoToken, ...headers } });

const graphql = ({ url }: Serving, query: string, variables: object) =>
  fetch(`${url}/graphql`, {
    method: "POST",
    headers: { "X-Service-Access-Token": demoToken, "content-type": "application/json" },
    body: JSON.stringify({ query, variables }),
  });

/** The spans of a request from its root to its leaves, as `name` or `name > name`. */
function pathsOf(spans: readonly ReceivedSpan[], traceId: string | undefined): string[] {
  const own = spans.filter((span) => span.traceId === traceId);
  const pathOf = (span: ReceivedSpan): string => {
    const parent = own.find(({ spanId }) => spanId === span.parentSpanId);
    return parent === undefined ? span.name : `${pathOf(parent)} > ${span.name}`;
  };
  return own.map(pathOf).toSorted();
}

describe.concurrent("with OTEL_EXPORTER_OTLP_ENDPOINT", () => {
  test("requests are traced as parts of their callers' traces, and remaining spans are sent at shutdown", async () => {
    const collector = await startCollector();
    const server = await start(0, {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_SERVICE_NAME: "shop-window",
    });
    const caller = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
    const traceparent = `00-${caller.traceId}-${caller.spanId}-01`;
    expect((await graphql(server, importMany, { products: products(3, () => ({ title: "private" })) })).status).toBe(
      200,
    );
    const answered = await read(server, `${paths.of("p00000")}?siteId=`, { traceparent, "X-Request-Id": "mine" });
    expect(answered.status).toBe(200);
    expect((await read(server, paths.of("private"))).status).toBe(400);
    const events = [{ id: "e1", type: "ORDER", channel: "LIVE", amount: 1 }];
    const record = `mutation ($events: [ShopperEventInput!]!) { recordShopperEvents(lsId: "private", events: $events) { accepted } }`;
    await graphql(server, record, { events });
    expect((await server.stop()).stderr).toBe("");
    await collector.close();

    expect(collector.received.every((text) => text.startsWith("/v1/traces "))).toBe(true);
    const { spans } = collector;
    const route = "/external/product/v1/:productId";
    expect(spans.find(({ parentSpanId }) => parentSpanId === caller.spanId)).toMatchObject({
      name: `GET ${route}`,
      kind: spanKind.server,
      service: "shop-window",
      status: { code: 0 },
      attributes: {
        "http.request.method": "GET",
        "http.route": route,
        "http.response.status_code": 200,
        "vitrine.request_id": "mine",
        "vitrine.outcome": "ok",
        "vitrine.store": "demo",
      },
    });
    const root = `GET ${route}`;
    expect(pathsOf(spans, caller.traceId)).toEqual([
      root,
      `${root} > product`,
      `${root} > product > brief_product_by_id_or_sku`,
    ]);
    const traceOf = (name: string) => pathsOf(spans, spans.find((span) => span.name === name)?.traceId);
    expect(traceOf("import"), "who calls, which is known from then on").toContainEqual(
      expect.stringMatching(/^POST \/graphql > SELECT$/u),
    );
    expect(traceOf("import").join("\n")).toMatch(/^POST \/graphql > mutation[^>]* > import > product_upsert/mu);
    expect(traceOf("record events").join("\n")).toMatch(
      /^POST \/graphql > mutation[^>]* > record events > record_events\w*$/mu,
    );
    expect(spans.find(({ name }) => name === "record events")).toMatchObject({
      status: { code: 2 },
      attributes: { "error.type": "LIVE_STREAM_NOT_FOUND" },
    });
    const servers = spans.filter(({ kind }) => kind === spanKind.server);
    expect(servers.map(({ attributes }) => attributes["vitrine.outcome"])).toEqual([
      "ok",
      "ok",
      "PRODUCT_NOT_FOUND",
      "LIVE_STREAM_NOT_FOUND",
    ]);
    expect(JSON.stringify(spans)).not.toMatch(/private|demo-token|p0000/u);
  });

  test("an unreachable collector is logged once; requests are answered, and the server stops in time", async () => {
    const nobody = createServer().listen(0, "127.0.0.1");
    await once(nobody, "listening");
    const endpoint = `http://127.0.0.1:${(nobody.address() as { port: number }).port}`;
    nobody.close();
    const server = await start(1, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: "50" });
    await expectServed(server);
    await until(() => server.stderr() !== "", "a warning");
    await expectServed(server);
    expect((await server.stop()).status).toBe(0);
    expect(server.stderr().trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(server.stderr())).toMatchObject({ level: 40, msg: expect.stringContaining("collector") });
  });

  test("a hanging collector delays no request, and shutdown no longer than the grace period", async () => {
    const collector = await startCollector({ hangs: true });
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: "50",
      SHUTDOWN_GRACE_MS: "1000",
    };
    const server = await start(2, env);
    await expectServed(server);
    await until(() => collector.received.length > 0, "an export");
    await expectServed(server);
    expect((await server.stop()).status).toBe(0);
    expect(collector.spans.length).toBeGreaterThan(0);
    await collector.close();
  });
});

test.concurrent("without it neither tracing nor OpenTelemetry's SDK is loaded", async () => {
  const names = await readdir(new URL("../../../dist/chunks/", import.meta.url));
  expect(
    names.filter((name) => /^tracing-\w+\.js$/u.test(name)),
    "the part of the build that has both",
  ).not.toEqual([]);
  const server = await start(3, { NODE_DEBUG: "module,esm" });
  const { stderr } = await server.stop();
  expect(stderr).toContain("chunks/chunk-");
  expect(stderr).not.toContain("chunks/tracing-");
});

async function expectServed(server: Serving): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 20 }, () => read(server, paths.of("none"))));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400)); // there is no such product
}
