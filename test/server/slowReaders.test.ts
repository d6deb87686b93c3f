import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp, startApp, testDatabase } from "../support/app.js";
import { stopTimers } from "../support/clock.js";
import { brokenDatabase } from "../support/faults/brokenDatabase.js";
import { largeFile } from "../support/http/largeFile.js";
import { converse, onlyAnswer } from "../support/http/socket.js";
import { paths } from "../support/products.js";
import { saved } from "../support/shows.js";
import { until } from "../support/until.js";

/** Short, but longer than this process takes for a whole request. */
const timeouts = {
  headersTimeoutMs: 500,
  requestTimeoutMs: 1_000,
  keepAliveTimeoutMs: 500,
  stalledTimeoutMs: 300,
  checkIntervalMs: 20,
};
const app = await openTestApp({}, testDatabase(), timeouts);
const store = await createTestStore(app);
const file = await largeFile(app);

/** Lets all these times pass by the server's own clock: twice, it cuts off a client that says nothing. */
async function passServerTimes(): Promise<void> {
  for (let times = 0; times < 3; times += 1) await converse(app.url).closed();
}

const head = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Service-Access-Token: ${store.token}\r\nContent-Length: ${length}\r\n\r\n`;
const stream = (query: string) => {
  const body = JSON.stringify({ query });
  return head("/graphql", body.length).replace("\r\n\r\n", "\r\nAccept: text/event-stream\r\n\r\n") + body;
};

// They wait for the server's times side by side.
describe.concurrent("a client that never reads", () => {
  test("is disconnected once it has read nothing for long enough", async () => {
    const conversation = converse(app.url, file.request);
    conversation.socket.pause();
    const isCut = () => app.accessLog.some((line) => line.includes(file.path) && line.includes('"aborted"'));
    await until(isCut, "the server to cut it off"); // a client that does not read does not see the end either
    conversation.socket.resume();
    await conversation.closed();
    expect(conversation.received()).toMatch(/^HTTP\/1\.1 200 OK/u);
    expect(conversation.received().length).toBeLessThan(file.length);
  });

  test("and keeps sending requests is not answered forever", async () => {
    const { socket } = converse(app.url);
    socket.pause();
    await until(
      () => socket.closed || !socket.write(file.request.repeat(10)) || socket.closed,
      "the server not to read",
    );
    await until(() => (socket.write(file.request), socket.closed), "the server to close");
    expect(socket.bytesWritten).toBeLessThan(10_000_000);
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
  await passServerTimes();
  release(new TypeError("late"));
  await conversation.closed();
  expect(onlyAnswer(conversation.received())).toMatchObject({ status: 500, body: { code: "INTERNAL" } });
  await slow.close();
});

test.concurrent("a stream that is silent for longer than all these times is kept", async () => {
  const { id } = await saved(store);
  const conversation = converse(app.url, stream(`subscription { liveStreamAnalytics(lsId: "${id}") { name } }`));
  await until(() => conversation.received().includes("event: next"), "the first value");
  await passServerTimes();
  expect(conversation.socket.closed).toBe(false);
  expect(app.feed.watchers).toBe(1);
  conversation.socket.destroy();
  await until(() => app.feed.watchers === 0, "the stream to end");
});

test("a stream that nobody reads is ended, and others of the same show continue", async () => {
  const show = await saved(store, { name: "😀".repeat(1_000) }); // 4 KB
  const names = Array.from({ length: 290 }, (_, index) => `n${index}: name`).join(" ");
  const timers = stopTimers();
  const sent = stream(`subscription { liveStreamAnalytics(lsId: "${show.id}") { ${names} } }`);
  const unread = converse(app.url, sent);
  unread.socket.pause();
  const read = converse(app.url, sent);
  await until(() => app.feed.watchers === 2, "both to watch");
  const change = async () => {
    app.feed.changed(store.id, show.id);
    await timers.run(1_000); // changes are sent once a second
    return app.feed.watchers === 1;
  };
  await until(change, "the stream that nobody reads to end"); // what the system buffers has to be full first
  const seen = read.received().length;
  await until(async () => (await change()) && read.received().length > seen, "the other to go on");
  expect(read.socket.closed).toBe(false);
  read.socket.destroy();
  unread.socket.destroy();
  await until(() => app.feed.watchers === 0, "both to end");
});
