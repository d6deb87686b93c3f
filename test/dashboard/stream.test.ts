import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { subscribe } from "../../src/dashboard/connection/api.js";
import { showSubscription } from "../../src/dashboard/queries/show.js";

const { fetch: ownFetch, setTimeout: ownSetTimeout } = globalThis;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.restoreAllMocks(); // before the clock: a spy on its timer would put that back afterwards, for the files that follow
  vi.useRealTimers();
  globalThis.fetch = ownFetch;
  if (globalThis.setTimeout !== ownSetTimeout) throw new Error("The clock of the files that follow stands still.");
});

/** A server whose answer the test writes; calls of the page's origin reach it, as in a browser. */
async function openStream(status = 200) {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  globalThis.fetch = (path, init) => ownFetch(new URL(path as string, `http://127.0.0.1:${port}`), init);
  const variables = {
    lsId: "show",
    bucketSeconds: 60,
    startMinute: "2026-05-04T18:30:00Z",
    by: "CARTS",
    withCatalog: true,
  } as const;
  const values = subscribe(showSubscription, variables, { token: "secret" });
  const next = values.next();
  next.catch(() => undefined); // looked at later
  const [request, response] = (await once(server, "request")) as [{ headers: object }, ServerResponse];
  response.writeHead(status, { "content-type": "text/event-stream" });
  return { values, next, request, response };
}

const event = (name: string) => `event: next\ndata: {"data":{"liveStreamAnalytics":{"name":"${name}"}}}\n\n`;
const value = (name: string) => ({ done: false, value: { liveStreamAnalytics: { name } } });

test("values are parsed across chunks, comments are ignored, and the stream ends with complete", async () => {
  const { values, next, request, response } = await openStream();
  expect(request.headers).toMatchObject({ "x-service-access-token": "secret", accept: "text/event-stream" });
  const bytes = Buffer.from(`:\n\n${event("Zoë’s 🎉 show")}`);
  response.write(bytes.subarray(0, 60));
  await expect.poll(() => response.writableLength).toBe(0);
  response.write(bytes.subarray(60));
  expect(await next).toEqual(value("Zoë’s 🎉 show"));
  response.write(event("a") + event("b"));
  expect(await values.next()).toEqual(value("a"));
  expect(await values.next()).toEqual(value("b"));
  response.write("event: complete\ndata:\n\n");
  expect(await values.next()).toEqual({ done: true, value: undefined });
});

test("a stream that is silent for 30 seconds is aborted; any data, comments included, resets the timeout", async () => {
  const { values, next, response } = await openStream();
  response.write(event("a"));
  expect(await next).toEqual(value("a"));
  const waiting = values.next();
  waiting.catch(() => undefined);
  const begun = vi.spyOn(globalThis, "setTimeout");
  for (let times = 1; times <= 3; times += 1) {
    vi.advanceTimersByTime(29_000);
    response.write(":\n\n");
    await expect.poll(() => begun.mock.calls.filter(([, ms]) => ms === 30_000)).toHaveLength(times);
  }
  response.write(event("b"));
  expect(await waiting).toEqual(value("b"));
  const last = values.next();
  last.catch(() => undefined);
  vi.advanceTimersByTime(31_000);
  await expect(last).rejects.toThrow("aborted");
});

test("a refused subscription fails with the reason in its stream", async () => {
  const { next, response } = await openStream(429);
  const extensions = { code: "RATE_LIMITED", retryAfterSeconds: 42 };
  response.write(`event: next\ndata: ${JSON.stringify({ errors: [{ message: "Used up.", extensions }] })}\n\n`);
  await expect(next).rejects.toMatchObject({ kind: "rateLimited", message: "Used up.", retryAfterMs: 42_000 });
});
