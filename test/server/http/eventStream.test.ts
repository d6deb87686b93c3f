import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { LatestValue } from "../../../src/figures/feed/latestValue.js";
import { multipart, serverSentEvents } from "../../../src/api/graphql/streamFormat.js";
import type { EventStream } from "../../../src/api/graphql/eventStream.js";
import { sendEvents } from "../../../src/server/http/sendEvents.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { stopTimers } from "../../support/clock.js";
import { saved } from "../../support/shows.js";
import { converse } from "../../support/http/socket.js";

const app = await openTestApp();

const streamRequest = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";

/** A stream without values, until it is ended. */
function emptyStream() {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const events = (async function* () {
    await ended;
    yield* [];
  })();
  const stream: EventStream = { status: 200, headers: {}, format: serverSentEvents, events };
  return { stream, end };
}

test("a stream that ends before an earlier response of its connection is complete sends no more pings", async () => {
  const timers = stopTimers();
  const streams: ReturnType<typeof emptyStream>[] = [];
  const sent: Promise<void>[] = [];
  const errors: unknown[] = [];
  const server = createServer((_, response) => {
    const stream = emptyStream();
    streams.push(stream);
    response.on("error", (error) => errors.push(error)); // without a listener it would end the process
    sent.push(sendEvents(response, stream.stream, new AbortController().signal));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { socket } = converse(`http://127.0.0.1:${port}`, streamRequest + streamRequest);
  await expect.poll(() => streams).toHaveLength(2);
  streams[1]?.end();
  await sent[1];
  timers.pass(60_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(errors).toEqual([]);
  socket.destroy();
  streams[0]?.end();
  await sent[0];
});

test("all subscriptions pipelined on one connection end when their client leaves", async () => {
  const store = await createTestStore(app);
  const { id } = await saved(store, { status: "LIVE" });
  const body = JSON.stringify({ query: `subscription { liveStreamAnalytics(lsId: "${id}") { id } }` });
  const subscription = `POST /graphql HTTP/1.1\r\nHost: x\r\nX-Service-Access-Token: ${store.token}\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const { socket } = converse(app.url, subscription.repeat(3));
  await expect.poll(() => app.feed.watchers).toBe(3);
  socket.destroy();
  await expect.poll(() => app.feed.watchers).toBe(0);
});

test("streams ask proxies not to buffer them", async () => {
  const store = await createTestStore(app);
  const { id } = await saved(store);
  const leaving = new AbortController();
  const response = await store.fetch("/graphql", {
    method: "POST",
    signal: leaving.signal,
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ query: `subscription { liveStreamAnalytics(lsId: "${id}") { id } }` }),
  });
  expect([response.status, response.headers.get("x-accel-buffering")]).toEqual([200, "no"]);
  leaving.abort();
});

test.each([
  ["server-sent events", serverSentEvents],
  ["the multipart protocol", multipart],
])("a silent stream of %s sends a heartbeat every 12 seconds, so that no proxy cuts it off", async (__, format) => {
  const timers = stopTimers();
  const events = new LatestValue<never>(() => undefined);
  const server = createServer(
    (_, response) =>
      void sendEvents(response, { status: 200, headers: {}, format, events }, new AbortController().signal),
  );
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { body } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  expect(await reader?.read(), "the beginning").toEqual({ done: false, value: format.opening.toString() });
  for (let times = 0; times < 2; times += 1) {
    timers.pass(12_000);
    expect(await reader?.read()).toEqual({ done: false, value: format.heartbeat.toString() });
  }
  await reader?.cancel();
});
