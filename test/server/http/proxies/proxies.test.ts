// @tier all
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTestStore, openTestApp } from "../../../support/app.js";
import { type Proxy, startHaproxy, startNginx } from "../../../support/process/proxies.js";
import { needed } from "../../../support/run/programs.js";
import { record, saved } from "../../../support/shows.js";
import { subscribe } from "../../../support/http/subscribe.js";

const [nginx, haproxy] = [needed("TEST_NGINX"), needed("TEST_HAPROXY")];
const query = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { kpis { orders { total } } } }";

const app = await openTestApp();
const store = await createTestStore(app);

const serverPort = () => new URL(app.url).port;
const order = () => ({ id: crypto.randomUUID(), type: "ORDER", channel: "LIVE", amount: 1 });
const ordersIn = (value: any): number => value.data.liveStreamAnalytics.kpis.orders.total;

async function closedAfterTest(started: Promise<Proxy>): Promise<Proxy> {
  const proxy = await started;
  onTestFinished(() => proxy.close());
  return proxy;
}

/** The orders that a subscription through a proxy shows: at once, and after one more was recorded. */
async function watchedOrders(port: number): Promise<number[]> {
  const { id: lsId } = await saved(store);
  const leaving = new AbortController();
  const url = `http://127.0.0.1:${port}`;
  const values = subscribe({ url }, store, { query, variables: { lsId } }, leaving.signal);
  const before = ordersIn((await values.next()).value);
  await store.graphql(record, { lsId, events: [order()] });
  const after = ordersIn((await values.next()).value);
  leaving.abort();
  return [before, after];
}

describe("nginx", () => {
  test("with a bare proxy_pass, which is HTTP/1.0 and buffered, forwards live values", async () => {
    const { port } = await closedAfterTest(startNginx(nginx, `proxy_pass http://127.0.0.1:${serverPort()};`));
    expect(await watchedOrders(port)).toEqual([0, 1]);
  });

  test("with HTTP/1.1 to the server forwards live values", async () => {
    const location = `proxy_pass http://127.0.0.1:${serverPort()}; proxy_http_version 1.1;`;
    const { port } = await closedAfterTest(startNginx(nginx, location));
    expect(await watchedOrders(port)).toEqual([0, 1]);
  });

  test("with TLS and HTTP/2 to the client forwards live values", async () => {
    const { id: lsId } = await saved(store);
    const location = `proxy_pass http://127.0.0.1:${serverPort()};`;
    const { port } = await closedAfterTest(startNginx(nginx, location, true));
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    onTestFinished(() => session.destroy());
    const stream = session.request({
      ":method": "POST",
      ":path": "/graphql",
      "x-service-access-token": store.token,
      "content-type": "application/json",
      accept: "text/event-stream",
    });
    stream.setEncoding("utf8").end(JSON.stringify({ query, variables: { lsId } }));
    let text = "";
    const untilTotal = async (total: number) => {
      while (!text.includes(`"total":${total}}`)) text += String((await once(stream, "data"))[0]);
    };
    await untilTotal(0);
    await store.graphql(record, { lsId, events: [order()] });
    await untilTotal(1);
    expect(text.match(/^event: next$/gmu)).toHaveLength(2);
  });
});

test("HAProxy forwards live values", async () => {
  const { port } = await closedAfterTest(startHaproxy(haproxy, serverPort()));
  expect(await watchedOrders(port)).toEqual([0, 1]);
});
