import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createTestStore, startApp, storeAt, type TestApp, testDatabase, type TestStore } from "../support/app.js";
import { brokenDatabase } from "../support/brokenDatabase.js";
import { receive } from "../support/bytes.js";
import { readPage } from "../support/pages.js";
import { problemBody } from "../support/problems.js";
import { until } from "../support/process.js";
import { paths, product, storedProducts } from "../support/products.js";
import { saved } from "../support/shows.js";
import { type Conversation, converse, onlyAnswer } from "../support/socket.js";

/** Short, so that the tests are. The bounds below leave room for a busy machine. */
const patience = {
  headersTimeoutMs: 600,
  requestTimeoutMs: 1_200,
  keepAliveTimeoutMs: 500,
  stalledTimeoutMs: 800,
  checkIntervalMs: 100,
};

let app: TestApp;
let store: TestStore;
beforeAll(async () => {
  app = await startApp({}, testDatabase(), patience);
  store = await createTestStore(app);
  await (await fetch(`${app.url}/graphql`, { headers: { accept: "text/html" } })).text(); // made when first asked for
});
afterAll(() => app.close());
afterEach(() => {
  if (app.logged.length > 0) throw new Error(`Nobody wants to know: ${app.logged.join("")}`);
});

const timedOut = {
  status: 408,
  headers: { connection: "close", "content-type": "application/problem+json" },
  body: problemBody("REQUEST_TIMEOUT", "The request took too long to arrive."),
};

/** Sends a byte of a text every 20 ms until the server has closed; the text must be longer than it has patience for. */
async function drip(conversation: Conversation, text: string): Promise<number> {
  let next = 0;
  const timer = setInterval(() => conversation.socket.write(text[next++ % text.length] ?? ""), 20);
  return conversation.closed().finally(() => clearInterval(timer));
}

/** Lets time pass by the server's own clock: it cuts off clients that say nothing, one after the other. */
async function serverIsPatientFor(totalMs: number): Promise<void> {
  let passedMs = 0;
  while (passedMs < totalMs) passedMs += await converse(app.url).closed();
}

const head = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Service-Access-Token: ${store.token}\r\nContent-Length: ${length}\r\n\r\n`;

describe("a client is cut off", () => {
  test("that sends nothing at all, with a 408", async () => {
    const conversation = converse(app.url);
    expect(await conversation.closed()).toBeGreaterThan(patience.headersTimeoutMs - 50);
    expect(onlyAnswer(conversation.received())).toMatchObject(timedOut);
  });

  test("that sends its headers byte by byte, with a 408", async () => {
    const conversation = converse(app.url, "GET /healthz HTTP/1.1\r\nHost: x\r\n");
    expect(await drip(conversation, "X-Slow: abcdefgh\r\n")).toBeGreaterThan(patience.headersTimeoutMs - 50);
    expect(onlyAnswer(conversation.received())).toMatchObject(timedOut);
  });

  test.each([paths.one, "/graphql"])(
    "that sends its body to %s byte by byte, with a 408, and nothing is stored",
    async (path) => {
      const conversation = converse(app.url, head(path, 5_000));
      const sent = path === paths.one ? JSON.stringify({ product: product("slow") }) : '{"query":"{__typename}"}';
      expect(await drip(conversation, sent)).toBeGreaterThan(patience.requestTimeoutMs - 50);
      expect(onlyAnswer(conversation.received())).toMatchObject(timedOut);
      expect(await storedProducts(app, store)).toEqual([]);
    },
  );

  test("that sends its body chunk by chunk, without a length, with a 408", async () => {
    const chunked = head(paths.one, 0).replace("Content-Length: 0", "Transfer-Encoding: chunked");
    const conversation = converse(app.url, chunked);
    const timer = setInterval(() => conversation.socket.write("1\r\n \r\n"), 20);
    expect(await conversation.closed()).toBeGreaterThan(patience.requestTimeoutMs - 50);
    clearInterval(timer);
    expect(onlyAnswer(conversation.received())).toMatchObject(timedOut);
  });

  test("that goes on sending a body which was refused, without a second answer", async () => {
    const refused = head(paths.one, 5_000).replace("application/json", "text/plain");
    const conversation = converse(app.url, refused);
    await drip(conversation, "x");
    expect(onlyAnswer(conversation.received())).toMatchObject({ status: 415 });
  });

  test("that sends nothing after a request, without an answer to what it did not ask", async () => {
    const conversation = converse(app.url, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    const closedAfterMs = await conversation.closed();
    expect(closedAfterMs).toBeGreaterThan(patience.keepAliveTimeoutMs - 50);
    expect(onlyAnswer(conversation.received())).toMatchObject({ status: 200, headers: { connection: "keep-alive" } });
  });
});

test("many that are slow take nothing from others", async () => {
  const patient = await startApp(); // with the usual times, so that none of them is cut off meanwhile
  const caller = storeAt(patient.url, store);
  const slow = Array.from({ length: 200 }, (_, index) =>
    converse(patient.url, index % 2 === 0 ? "GET / HTTP/1.1\r\nHo" : `${head(paths.bulk, 9_000)}{"products":[`),
  );
  await caller.post(paths.one, { product: product("fast") });
  for (let n = 0; n < 20; n += 1) expect(await caller.get(paths.of("fast"))).toMatchObject({ status: 200 });
  expect(slow.some(({ socket }) => socket.closed)).toBe(false); // or they would have shown nothing
  for (const { socket } of slow) socket.destroy();
  await patient.close();
});

test("more connections than there may be are closed as they come, and others take their places once they end", async () => {
  const small = await startApp({ connectionsMax: 3 });
  const first = [1, 2, 3].map(() => converse(small.url, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"));
  await until(() => first.every((one) => one.received().includes("200 OK")), "answers on all connections");
  const more = [1, 2, 3, 4].map(() => converse(small.url, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"));
  await Promise.all(more.map((one) => one.closed()));
  expect(more.map((one) => one.received())).toEqual(["", "", "", ""]);
  for (const one of first) {
    one.socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    await until(() => one.received().split("200 OK").length === 3, "another answer");
  }
  first[0]?.socket.destroy();
  await until(async () => (await fetch(`${small.url}/healthz`).catch(() => undefined))?.status === 200, "a place");
  for (const { socket } of first) socket.destroy();
  await small.close();
});

describe("a client that never reads", () => {
  /** A request for more than the system buffers for a connection, and how long the answer's body is. */
  async function requestForMuch() {
    const { files } = await readPage(app, "/graphql");
    const file = files.find((name) => name.endsWith(".js")) ?? "";
    const { headers } = await receive(app.url, file, { method: "HEAD" });
    return { text: `GET ${file} HTTP/1.1\r\nHost: x\r\n\r\n`, length: Number(headers["content-length"]) };
  }

  const bodyOf = (received: string) => received.slice(received.indexOf("\r\n\r\n") + 4);

  test("its answer is cut off once it has taken in nothing for long enough", async () => {
    const { text, length } = await requestForMuch();
    const conversation = converse(app.url, text);
    conversation.socket.pause();
    await serverIsPatientFor(2 * patience.stalledTimeoutMs); // who does not read does not see the end either
    conversation.socket.resume();
    await conversation.closed();
    expect(conversation.received()).toMatch(/^HTTP\/1\.1 200 OK/u);
    expect(bodyOf(conversation.received()).length).toBeLessThan(length);
  });

  test("but reads slowly gets all of it, in however long a time", async () => {
    const { text, length } = await requestForMuch();
    const conversation = converse(app.url, text.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
    const { socket } = conversation;
    const gulp = length / 16;
    let [taken, pauses] = [0, 0];
    socket.on("data", (bytes) => {
      taken += Buffer.byteLength(bytes);
      if (taken < (pauses + 1) * gulp) return;
      pauses += 1;
      socket.pause();
      setTimeout(() => socket.resume(), patience.stalledTimeoutMs / 4);
    });
    expect(await conversation.closed(25_000)).toBeGreaterThan(patience.stalledTimeoutMs * 2);
    expect(bodyOf(conversation.received())).toHaveLength(length);
  });

  test("and goes on asking is not answered without end", async () => {
    const { text } = await requestForMuch();
    const conversation = converse(app.url);
    conversation.socket.pause();
    const timer = setInterval(() => conversation.socket.write(text.repeat(10)), 5);
    await conversation.closed();
    clearInterval(timer);
    expect(conversation.socket.bytesWritten).toBeLessThan(10_000_000);
  });
});

test("a client that waits for an answer which takes long is not cut off", async () => {
  let release: (error: Error) => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    release = reject;
  });
  const slow = await startApp(
    {},
    brokenDatabase(() => late),
    patience,
  );
  const { token } = await createTestStore(slow);
  const conversation = converse(
    slow.url,
    `GET ${paths.of("a")} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Service-Access-Token: ${token}\r\n\r\n`,
  );
  await serverIsPatientFor(3 * patience.stalledTimeoutMs);
  release(new TypeError("late"));
  await conversation.closed();
  expect(onlyAnswer(conversation.received())).toMatchObject({ status: 500, body: { code: "INTERNAL" } });
  await slow.close();
});

test("a stream that has nothing to say for longer than all these times is kept", async () => {
  const { id } = await saved(store);
  const query = `subscription { liveStreamAnalytics(lsId: "${id}") { durationSeconds kpis { viewers { total } } } }`;
  const body = JSON.stringify({ query });
  const sent = head("/graphql", body.length).replace("\r\n\r\n", "\r\nAccept: text/event-stream\r\n\r\n") + body;
  const conversation = converse(app.url, sent);
  await until(() => conversation.received().includes("event: next"), "the first value");
  await serverIsPatientFor(2 * patience.requestTimeoutMs);
  expect(conversation.socket.closed).toBe(false);
  expect(app.feed.watchers).toBe(1);
  conversation.socket.destroy();
  await until(() => app.feed.watchers === 0, "the stream to end");
});

test("a stream that nobody reads is ended, and others of the same show go on", async () => {
  const show = await saved(store, { name: "😀".repeat(1_000) }); // 4 KB
  const names = Array.from({ length: 290 }, (_, index) => `n${index}: name`).join(" ");
  const body = JSON.stringify({ query: `subscription { liveStreamAnalytics(lsId: "${show.id}") { ${names} } }` });
  const sent = head("/graphql", body.length).replace("\r\n\r\n", "\r\nAccept: text/event-stream\r\n\r\n") + body;
  const unread = converse(app.url, sent);
  unread.socket.pause();
  const read = converse(app.url, sent);
  await until(() => app.feed.watchers === 2, "both to watch");
  const changed = () => {
    app.feed.changed(store.id, show.id);
    return app.feed.watchers === 1;
  };
  await until(changed, "the stream that nobody reads to end", 25_000); // what the system buffers has to be full first
  const seen = read.received().length;
  await until(() => changed() && read.received().length > seen, "the other to go on");
  expect(read.socket.closed).toBe(false);
  read.socket.destroy();
  unread.socket.destroy();
  await until(() => app.feed.watchers === 0, "both to end");
});
