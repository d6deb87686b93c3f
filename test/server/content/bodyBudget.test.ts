import { randomBytes } from "node:crypto";
import { type ClientRequest, createServer, request as open } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { type BodyShare, createBodyBudget } from "../../../src/server/content/body.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { stopTimers } from "../../support/clock.js";
import { scrape, untilSeries } from "../../support/process/metrics.js";
import { paths } from "../../support/products.js";
import { type Conversation, converse } from "../../support/http/socket.js";
import { until } from "../../support/until.js";

const bodyBytesMax = 1_048_576;
const app = await openTestApp({ bodyBytesMax });
const store = await createTestStore(app);

const held = "vitrine_body_bytes";

/** Sends a body of the largest size, but for its last byte, and waits until the server has memory for it. */
async function sendAlmost(): Promise<ClientRequest> {
  const before = (await scrape(app.url)).get(held) ?? 0;
  const headers = { "X-Service-Access-Token": store.token, "content-type": "application/json" };
  const request = open(`${app.url}${paths.bulk}`, {
    method: "POST",
    headers: { ...headers, "content-length": bodyBytesMax },
  });
  request.on("error", () => undefined);
  await new Promise<void>((resolve) => request.write(Buffer.alloc(bodyBytesMax - 1, " "), () => resolve()));
  await untilSeries(app.url, held, before + bodyBytesMax);
  return request;
}

const post = (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  store.fetch(path, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
const padded = (bytes: number) => `{"products": []}`.padEnd(bytes);

test("large bodies of one store take at most half of the memory, and another store's are read meanwhile", async () => {
  const other = await createTestStore(app);
  const sending: ClientRequest[] = [];
  for (let n = 0; n < 2; n += 1) sending.push(await sendAlmost());
  try {
    const detail = "Too many large bodies arrive at the same time. Nothing was changed.";
    const timers = stopTimers();
    const answers = Promise.all([
      post(paths.bulk, padded(900_000)),
      post("/graphql", JSON.stringify({ query: "{ __typename }" }).padEnd(900_000)),
      post(paths.bulk, gzipSync(padded(900_000)), { "content-encoding": "gzip" }),
    ]);
    let areAnswered = false;
    void answers.finally(() => (areAnswered = true));
    // What is not refused would wait for the end of the others, which does not come.
    await until(async () => (await timers.run(500), areAnswered), "those that wait for room to be refused");
    const [refused, graphql, bomb] = await answers;
    expect({ status: refused.status, retryAfter: refused.headers.get("retry-after") }).toEqual({
      status: 503,
      retryAfter: "1",
    });
    expect(await refused.json()).toMatchObject({ code: "UNAVAILABLE", detail });
    expect(graphql.status).toBe(503);
    expect(await graphql.json()).toMatchObject({ errors: [{ message: detail, extensions: { code: "UNAVAILABLE" } }] });
    expect(bomb.status, "what comes out of a compressed body counts").toBe(503);
    expect((await other.post(paths.bulk, { products: [], siteId: "", siteType: "x".repeat(900_000) })).status).toBe(
      200,
    );
    const small = await Promise.all(Array.from({ length: 20 }, () => post(paths.bulk, padded(65_535))));
    expect(small.map(({ status }) => status)).toEqual(Array(20).fill(200));
  } finally {
    for (const request of sending) request.destroy();
  }
  await expect.poll(async () => (await post(paths.bulk, padded(900_000))).status).toBe(200);
});

test("a body that waits for memory is read once some is free", async () => {
  const sending = [await sendAlmost(), await sendAlmost()];
  const waiting = post(paths.bulk, padded(900_000));
  await scrape(app.url); // the body is sent before
  sending[0]?.destroy();
  expect((await waiting).status).toBe(200);
  sending[1]?.destroy();
});

test("answered and refused bodies release their memory", async () => {
  const large = () => post(paths.bulk, padded(bodyBytesMax));
  for (let n = 0; n < 3; n += 1) expect((await large()).status).toBe(200);
  const tooLarge = gzipSync(Buffer.concat([Buffer.alloc(bodyBytesMax, " "), randomBytes(10)]));
  for (let n = 0; n < 3; n += 1) {
    expect((await post(paths.bulk, tooLarge, { "content-encoding": "gzip" })).status).toBe(413);
  }
  expect((await large()).status).toBe(200);
});

test("a refused body takes no memory while its client still sends the rest", async () => {
  await store.get(paths.of("none"));
  const sending: Conversation[] = [];
  const head = `POST ${paths.bulk} HTTP/1.1\r\nHost: x\r\nX-Service-Access-Token: ${store.token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const chunk = `${(bodyBytesMax + 1).toString(16)}\r\n${" ".repeat(bodyBytesMax + 1)}`;
  for (let n = 0; n < 4; n += 1) {
    const conversation = converse(app.url, head + chunk);
    sending.push(conversation);
    await expect.poll(() => conversation.received()).toContain("HTTP/1.1 413 ");
  }
  expect(sending.map(({ socket }) => socket.closed)).toEqual(Array(4).fill(false));
  expect((await post(paths.bulk, padded(bodyBytesMax))).status).toBe(200);
  for (const { socket } of sending) socket.destroy();
});

test("a body takes no memory once its client has left, even if its pipelined response was never sent", async () => {
  const budget = createBodyBudget(4_000_000, 100);
  const shares: BodyShare[] = [];
  const server = createServer((_, response) => void shares.push(budget.shareFor(response, "store"))); // it never answers
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { socket } = converse(`http://127.0.0.1:${port}`, "GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(3));
  await expect.poll(() => shares).toHaveLength(3);
  expect(shares[1]?.grow(2_000_000)).toBeUndefined();
  await expect(shares[2]?.grow(2_000_000)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const waiting = Promise.allSettled([shares[0]?.grow(2_000_000)]);
  socket.destroy();
  expect(await waiting).toMatchObject([{ status: "rejected", reason: { code: "UNAVAILABLE" } }]);
  const other = converse(`http://127.0.0.1:${port}`, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await expect.poll(() => shares).toHaveLength(4);
  expect(shares[3]?.grow(2_000_000)).toBeUndefined();
  other.socket.destroy();
});
