import { describe, expect, test } from "vitest";
import { within } from "../../support/busy.js";
import { createTestStore, startApp, testDatabase } from "../../support/app.js";
import { brokenDatabase } from "../../support/faults/brokenDatabase.js";
import { receive } from "../../support/http/bytes.js";
import { timeouts, useShortTimeoutServer } from "../../support/http/shortTimeoutServer.js";
import { readPage } from "../../support/browser/pages.js";
import { until } from "../../support/until.js";
import { paths } from "../../support/products.js";
import { saved } from "../../support/shows.js";
import { converse, onlyAnswer } from "../../support/http/socket.js";

const server = useShortTimeoutServer();

/** Lets time pass by the server's own clock: it cuts off clients that say nothing, one after the other. */
async function passServerTime(totalMs: number): Promise<void> {
  let passedMs = 0;
  while (passedMs < totalMs) passedMs += await converse(server.app.url).closed();
}

const head = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Service-Access-Token: ${server.store.token}\r\nContent-Length: ${length}\r\n\r\n`;

// They wait for the server's times side by side.
describe.concurrent("a client that never reads", () => {
  /** A request for more than the system buffers for a connection, and how long the answer's body is. */
  async function requestForMuch(app = server.app) {
    const { files } = await readPage(app, "/graphql");
    const file = files.find((name) => name.endsWith(".js")) ?? "";
    const { headers } = await receive(app.url, file, { method: "HEAD" });
    return { text: `GET ${file} HTTP/1.1\r\nHost: x\r\n\r\n`, length: Number(headers["content-length"]) };
  }

  const bodyOf = (received: string) => received.slice(received.indexOf("\r\n\r\n") + 4);

  test("is disconnected once it has read nothing for long enough", async () => {
    const { text, length } = await requestForMuch();
    const conversation = converse(server.app.url, text);
    conversation.socket.pause();
    // A client that does not read does not see the end either. A busy machine may take seconds to begin the response.
    await passServerTime(4 * timeouts.stalledTimeoutMs);
    conversation.socket.resume();
    await conversation.closed();
    expect(conversation.received()).toMatch(/^HTTP\/1\.1 200 OK/u);
    expect(bodyOf(conversation.received()).length).toBeLessThan(length);
  });

  test("but reads slowly gets the whole response, however long it takes", async () => {
    const stalledTimeoutMs = 4_000; // so that a busy machine makes no pause as long
    const patient = await startApp({}, testDatabase(), { ...timeouts, stalledTimeoutMs });
    const { text, length } = await requestForMuch(patient);
    const conversation = converse(patient.url, text.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
    const { socket } = conversation;
    const gulp = length / 48;
    let [taken, pauses] = [0, 0];
    socket.on("data", (bytes) => {
      taken += Buffer.byteLength(bytes);
      if (taken < (pauses + 1) * gulp) return;
      pauses += 1;
      socket.pause();
      setTimeout(() => socket.resume(), stalledTimeoutMs / 20);
    });
    expect(await conversation.closed(within(60_000))).toBeGreaterThan(stalledTimeoutMs * 2);
    expect(bodyOf(conversation.received())).toHaveLength(length);
    await patient.close();
  });

  test("and keeps sending requests is not answered forever", async () => {
    const { text } = await requestForMuch();
    const conversation = converse(server.app.url);
    conversation.socket.pause();
    const timer = setInterval(() => conversation.socket.write(text.repeat(10)), 5);
    await conversation.closed();
    clearInterval(timer);
    expect(conversation.socket.bytesWritten).toBeLessThan(10_000_000);
  });
});

test.concurrent("a client that waits for a slow response is not disconnected", async () => {
  let release: (error: Error) => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    release = reject;
  });
  let asked = 0;
  const broken = brokenDatabase(() => {
    asked += 1;
    return late;
  });
  const slow = await startApp({}, broken, timeouts);
  const { token } = await createTestStore(slow);
  const conversation = converse(
    slow.url,
    `GET ${paths.of("a")} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Service-Access-Token: ${token}\r\n\r\n`,
  );
  await until(() => asked > 0, "the request");
  await passServerTime(3 * timeouts.stalledTimeoutMs);
  release(new TypeError("late"));
  await conversation.closed();
  expect(onlyAnswer(conversation.received())).toMatchObject({ status: 500, body: { code: "INTERNAL" } });
  await slow.close();
});

test.concurrent("a stream that is silent for longer than all these times is kept", async () => {
  const { id } = await saved(server.store);
  const query = `subscription { liveStreamAnalytics(lsId: "${id}") { durationSeconds kpis { viewers { total } } } }`;
  const body = JSON.stringify({ query });
  const sent = head("/graphql", body.length).replace("\r\n\r\n", "\r\nAccept: text/event-stream\r\n\r\n") + body;
  const conversation = converse(server.app.url, sent);
  await until(() => conversation.received().includes("event: next"), "the first value");
  await passServerTime(2 * timeouts.requestTimeoutMs);
  expect(conversation.socket.closed).toBe(false);
  expect(server.app.feed.watchers).toBe(1);
  conversation.socket.destroy();
  await until(() => server.app.feed.watchers === 0, "the stream to end");
});

test("a stream that nobody reads is ended, and others of the same show continue", async () => {
  const show = await saved(server.store, { name: "😀".repeat(1_000) }); // 4 KB
  const names = Array.from({ length: 290 }, (_, index) => `n${index}: name`).join(" ");
  const body = JSON.stringify({ query: `subscription { liveStreamAnalytics(lsId: "${show.id}") { ${names} } }` });
  const sent = head("/graphql", body.length).replace("\r\n\r\n", "\r\nAccept: text/event-stream\r\n\r\n") + body;
  const unread = converse(server.app.url, sent);
  unread.socket.pause();
  const read = converse(server.app.url, sent);
  await until(() => server.app.feed.watchers === 2, "both to watch");
  const changed = () => {
    server.app.feed.changed(server.store.id, show.id);
    return server.app.feed.watchers === 1;
  };
  await until(changed, "the stream that nobody reads to end", within(25_000)); // what the system buffers has to be full first
  const seen = read.received().length;
  await until(() => changed() && read.received().length > seen, "the other to go on");
  expect(read.socket.closed).toBe(false);
  read.socket.destroy();
  unread.socket.destroy();
  await until(() => server.app.feed.watchers === 0, "both to end");
});
