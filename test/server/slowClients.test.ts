import { afterEach, describe, expect, test } from "vitest";
import { createTestStore, openTestApp, startApp, storeAt, testDatabase } from "../support/app.js";
import { type Conversation, converse, onlyAnswer } from "../support/http/socket.js";
import { problemBody } from "../support/problems.js";
import { paths, product, storedProducts } from "../support/products.js";
import { until } from "../support/until.js";

/** Short, but longer than this process takes for a whole request. */
const timeouts = { headersTimeoutMs: 500, requestTimeoutMs: 1_000, keepAliveTimeoutMs: 500, checkIntervalMs: 20 };
const app = await openTestApp({}, testDatabase(), timeouts);
const store = await createTestStore(app);
afterEach(() => {
  if (app.logged.length > 0) throw new Error(`Anybody can be slow, but it was logged: ${app.logged.join("")}`);
});

const timedOut = {
  status: 408,
  headers: { connection: "close", "content-type": "application/problem+json" },
  body: problemBody("REQUEST_TIMEOUT", "The request took too long to arrive."),
};

/** Sends a piece of a text again and again until the server has closed. */
async function drip({ socket }: Conversation, pieces: string | readonly string[]): Promise<void> {
  let next = 0;
  await until(() => {
    socket.write(pieces[next++ % pieces.length] ?? "");
    return socket.closed;
  }, "the server to close");
}

const head = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Service-Access-Token: ${store.token}\r\nContent-Length: ${length}\r\n\r\n`;
const chunked = head(paths.one, 0).replace("Content-Length: 0", "Transfer-Encoding: chunked");

// They wait for the server's times side by side.
describe.concurrent("a client is cut off", () => {
  test.each<[string, string, string | readonly string[]]>([
    ["nothing at all", "", ""],
    ["its headers byte by byte", "GET /healthz HTTP/1.1\r\nHost: x\r\n", "X-Slow: abcdefgh\r\n"],
    ["its body to REST byte by byte", head(paths.one, 5_000), JSON.stringify({ product: product("slow") })],
    ["its body to GraphQL byte by byte", head("/graphql", 5_000), '{"query":"{__typename}"}'],
    ["its body chunk by chunk, without a length", chunked, ["1\r\n \r\n"]],
  ])("that sends %s, with a 408, and nothing is stored", async (_, begun, rest) => {
    const conversation = converse(app.url, begun);
    if (rest === "") await conversation.closed();
    else await drip(conversation, rest);
    expect(onlyAnswer(conversation.received())).toMatchObject(timedOut);
    expect(await storedProducts(app, store)).toEqual([]);
  });

  test("that continues to send a refused body, without a second response", async () => {
    const conversation = converse(app.url, head(paths.one, 5_000).replace("application/json", "text/plain"));
    await drip(conversation, "x");
    expect(onlyAnswer(conversation.received())).toMatchObject({ status: 415 });
  });

  test("that sends nothing after a request, without a further response", async () => {
    const conversation = converse(app.url, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    await conversation.closed();
    expect(onlyAnswer(conversation.received())).toMatchObject({ status: 200, headers: { connection: "keep-alive" } });
  });
});

test("many slow clients do not affect others", async () => {
  const patient = await startApp(); // with the usual times, so that none of them is cut off meanwhile
  const caller = storeAt(patient.url, await createTestStore(patient));
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
