import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { serverSentEvents } from "../../src/graphql/streamFormat.js";
import type { EventStream } from "../../src/graphql/eventStream.js";
import { sendEvents } from "../../src/http/sendEvents.js";
import { createTestStore, startApp } from "../support/app.js";
import { saved } from "../support/shows.js";
import { converse } from "../support/http/socket.js";

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
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
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
  vi.advanceTimersByTime(60_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(errors).toEqual([]);
  socket.destroy();
  streams[0]?.end();
  await sent[0];
});

test("all subscriptions pipelined on one connection end when their client leaves", async () => {
  const app = await startApp();
  onTestFinished(() => app.close());
  const store = await createTestStore(app);
  const { id } = await saved(store, { status: "LIVE" });
  const body = JSON.stringify({ query: `subscription { liveStreamAnalytics(lsId: "${id}") { id } }` });
  const subscription = `POST /graphql HTTP/1.1\r\nHost: x\r\nX-Service-Access-Token: ${store.token}\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const { socket } = converse(app.url, subscription.repeat(3));
  await expect.poll(() => app.feed.watchers).toBe(3);
  socket.destroy();
  await expect.poll(() => app.feed.watchers).toBe(0);
});
