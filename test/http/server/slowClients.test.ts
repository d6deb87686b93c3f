import { describe, expect, test } from "vitest";
import { startApp, storeAt } from "../../support/app.js";
import { timeouts, useShortTimeoutServer } from "../../support/http/shortTimeoutServer.js";
import { problemBody } from "../../support/problems.js";
import { until } from "../../support/until.js";
import { paths, product, storedProducts } from "../../support/products.js";
import { type Conversation, converse, onlyAnswer } from "../../support/http/socket.js";

const server = useShortTimeoutServer();

const timedOut = {
  status: 408,
  headers: { connection: "close", "content-type": "application/problem+json" },
  body: problemBody("REQUEST_TIMEOUT", "The request took too long to arrive."),
};

/** Sends a byte of a text every 20 ms until the server has closed; the text must take longer than its timeouts. */
async function drip(conversation: Conversation, text: string): Promise<number> {
  let next = 0;
  const timer = setInterval(() => conversation.socket.write(text[next++ % text.length] ?? ""), 20);
  return conversation.closed().finally(() => clearInterval(timer));
}

const head = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Service-Access-Token: ${server.store.token}\r\nContent-Length: ${length}\r\n\r\n`;

// They wait for the server's times side by side.
describe.concurrent("a client is cut off", () => {
  test("that sends nothing at all, with a 408", async () => {
    const conversation = converse(server.app.url);
    expect(await conversation.closed()).toBeGreaterThan(timeouts.headersTimeoutMs - 50);
    expect(onlyAnswer(conversation.received())).toMatchObject(timedOut);
  });

  test("that sends its headers byte by byte, with a 408", async () => {
    const conversation = converse(server.app.url, "GET /healthz HTTP/1.1\r\nHost: x\r\n");
    expect(await drip(conversation, "X-Slow: abcdefgh\r\n")).toBeGreaterThan(timeouts.headersTimeoutMs - 50);
    expect(onlyAnswer(conversation.received())).toMatchObject(timedOut);
  });

  test.each([paths.one, "/graphql"])(
    "that sends its body to %s byte by byte, with a 408, and nothing is stored",
    async (path) => {
      const conversation = converse(server.app.url, head(path, 5_000));
      const sent = path === paths.one ? JSON.stringify({ product: product("slow") }) : '{"query":"{__typename}"}';
      expect(await drip(conversation, sent)).toBeGreaterThan(timeouts.requestTimeoutMs - 50);
      expect(onlyAnswer(conversation.received())).toMatchObject(timedOut);
      expect(await storedProducts(server.app, server.store)).toEqual([]);
    },
  );

  test("that sends its body chunk by chunk, without a length, with a 408", async () => {
    const chunked = head(paths.one, 0).replace("Content-Length: 0", "Transfer-Encoding: chunked");
    const conversation = converse(server.app.url, chunked);
    const timer = setInterval(() => conversation.socket.write("1\r\n \r\n"), 20);
    expect(await conversation.closed()).toBeGreaterThan(timeouts.requestTimeoutMs - 50);
    clearInterval(timer);
    expect(onlyAnswer(conversation.received())).toMatchObject(timedOut);
  });

  test("that continues to send a refused body, without a second response", async () => {
    const refused = head(paths.one, 5_000).replace("application/json", "text/plain");
    const conversation = converse(server.app.url, refused);
    await drip(conversation, "x");
    expect(onlyAnswer(conversation.received())).toMatchObject({ status: 415 });
  });

  test("that sends nothing after a request, without a further response", async () => {
    const conversation = converse(server.app.url, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    const closedAfterMs = await conversation.closed();
    expect(closedAfterMs).toBeGreaterThan(timeouts.keepAliveTimeoutMs - 50);
    expect(onlyAnswer(conversation.received())).toMatchObject({ status: 200, headers: { connection: "keep-alive" } });
  });
});

test("many slow clients do not affect others", async () => {
  const patient = await startApp(); // with the usual times, so that none of them is cut off meanwhile
  const caller = storeAt(patient.url, server.store);
  const slow = Array.from({ length: 200 }, (_, index) =>
    converse(patient.url, index % 2 === 0 ? "GET / HTTP/1.1\r\nHo" : `${head(paths.bulk, 9_000)}{"products":[`),
  );
  await caller.post(paths.one, { product: product("fast") });
  for (let n = 0; n < 20; n += 1) expect(await caller.get(paths.of("fast"))).toMatchObject({ status: 200 });
  expect(slow.some(({ socket }) => socket.closed)).toBe(false); // or they would have shown nothing
  for (const { socket } of slow) socket.destroy();
  await patient.close();
});

test("connections above the maximum are closed at once, and new ones are accepted once others end", async () => {
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
