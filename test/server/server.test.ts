import type { RequestListener, ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { listen, type ServerTimeouts } from "../../src/server/server.js";
import { respondJson } from "../../src/server/http/respond.js";
import { stopTimers } from "../support/clock.js";
import { converse, onlyAnswer } from "../support/http/socket.js";

/** So long that no test waits for it. */
const longMs = 120_000;

async function start(handler: RequestListener, timeouts: Partial<ServerTimeouts> = {}) {
  const times = { requestTimeoutMs: longMs, keepAliveTimeoutMs: longMs, ...timeouts };
  const server = await listen(handler, { host: "127.0.0.1", port: 0, connectionsMax: 100, ...times });
  onTestFinished(() => server.stop(0));
  return server;
}

test("headers have their own time limit, however long the request may take", async () => {
  const { url } = await start(() => undefined, { headersTimeoutMs: 100, checkIntervalMs: 20 });
  const conversation = converse(url, "GET / HTTP/1.1\r\nHost: x\r\n");
  await conversation.closed();
  expect(onlyAnswer(conversation.received())).toMatchObject({ status: 408, body: { code: "REQUEST_TIMEOUT" } });
});

test("a connection that becomes idle while the server stops is closed", async () => {
  let answer: ((response: ServerResponse) => void) | undefined;
  const answered = new Promise<ServerResponse>((resolve) => (answer = resolve));
  const server = await start((_, response) => {
    response.write("begun"); // so that its headers promise to keep the connection
    answer?.(response);
  });
  const conversation = converse(server.url, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const response = await answered;
  const stopped = server.stop(longMs);
  response.end();
  await stopped; // and not only at the end of the grace period
  await conversation.closed();
  expect(conversation.received()).toMatch(/connection: keep-alive[^]*begun[^]*\r\n0\r\n\r\n$/iu);
});

test("a refused body that never ends is cut off after 5 seconds", async () => {
  const timers = stopTimers();
  const { url } = await start((_, response) => respondJson(response, 415, { refused: true }));
  const conversation = converse(url, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{");
  await expect.poll(() => conversation.received()).toContain('{"refused":true}');
  timers.pass(4_900);
  conversation.socket.write(" ");
  await new Promise((resolve) => setImmediate(resolve));
  expect(conversation.socket.closed).toBe(false);
  timers.pass(200);
  await conversation.closed();
  expect(onlyAnswer(conversation.received())).toMatchObject({ status: 415, headers: { connection: "close" } });
});
