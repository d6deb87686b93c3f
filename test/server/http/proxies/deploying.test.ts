// @tier all
import { once } from "node:events";
import { connect, constants } from "node:http2";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createTestStore, startApp, type TestApp, type TestStore } from "../../../support/app.js";
import { paths, product, products } from "../../../support/products.js";
import { documentedProxies, startAsShown } from "../../../support/process/proxies.documented.js";
import { record, saved } from "../../../support/shows.js";

let app: TestApp;
let store: TestStore;
beforeAll(async () => {
  app = await startApp({ basePath: "/shop-api" });
  store = await createTestStore(app);
});
afterAll(() => app.close());

function open(port: number) {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  onTestFinished(() => session.destroy());
  const headers = { "x-service-access-token": store.token, "content-type": "application/json" };
  const send = (method: string, path: string, body: object | undefined, accept: string) => {
    const stream = session.request({ ":method": method, ":path": path, ...headers, accept });
    if (body === undefined) stream.end();
    else stream.end(JSON.stringify(body));
    return stream;
  };
  const call = async (method: string, path: string, body?: object) => {
    const stream = send(method, path, body, "application/json");
    const [answer] = await once(stream, "response");
    return { status: answer[constants.HTTP2_HEADER_STATUS], body: await text(stream) };
  };
  return { send, call };
}

test.each(documentedProxies)(
  "the documented configuration of %s serves calls, large imports and live values over TLS and HTTP/2",
  async (kind, program) => {
    const { send, call } = open(await startAsShown(kind, program, app.url));
    expect(await call("POST", paths.one, { product: product("a") })).toMatchObject({ status: 200 });
    expect(await call("GET", paths.of("a"))).toMatchObject({ status: 200, body: expect.stringContaining('"sku-a"') });
    const description = "x".repeat(2_000);
    const large = await call("POST", paths.bulk, { products: products(1_500, () => ({ description })) });
    expect(large).toMatchObject({ status: 200, body: expect.stringContaining('"imported":1500') });
    expect(await call("POST", paths.one, { product: product("metrics") })).toMatchObject({ status: 200 });
    for (const path of ["/metrics", "/metrics?x", "/shop-api/metrics", "/a/b/metrics"]) {
      expect([path, await call("GET", path)]).toEqual([
        path,
        { status: 404, body: expect.not.stringContaining("vitrine_") },
      ]);
    }
    for (const prefix of ["", "/shop-api"]) {
      expect(await call("GET", prefix + paths.of("metrics"))).toMatchObject({ status: 200 });
    }
    expect((await call("GET", "/readyz")).status).toBe(200);

    const { id: lsId } = await saved(store);
    const query = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { kpis { orders { total } } } }";
    const stream = send("POST", "/graphql", { query, variables: { lsId } }, "text/event-stream").setEncoding("utf8");
    let received = "";
    const untilTotal = async (total: number) => {
      while (!received.includes(`"total":${total}}`)) received += String((await once(stream, "data"))[0]);
    };
    await untilTotal(0);
    const order = { id: crypto.randomUUID(), type: "ORDER", channel: "LIVE", amount: 1 };
    await store.graphql(record, { lsId, events: [order] });
    await untilTotal(1);
  },
);
