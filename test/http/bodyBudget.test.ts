import { randomBytes } from "node:crypto";
import { type ClientRequest, request as open } from "node:http";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestStore, startApp, type TestApp, type TestStore } from "../support/app.js";
import { paths } from "../support/products.js";

const bodyBytesMax = 1_048_576;
let app: TestApp;
let store: TestStore;
beforeAll(async () => {
  app = await startApp({ bodyBytesMax });
  store = await createTestStore(app);
});
afterAll(() => app.close());

/** Sends a body of the largest size, but for its last byte, and waits until the server, which is this process, has read it. */
async function sendAlmost(): Promise<ClientRequest> {
  await store.get(paths.of("none")); // the token is known then, and no query stands before the reading
  const headers = { "X-Service-Access-Token": store.token, "content-type": "application/json" };
  const request = open(`${app.url}${paths.bulk}`, {
    method: "POST",
    headers: { ...headers, "content-length": bodyBytesMax },
  });
  request.on("error", () => undefined);
  await new Promise<void>((resolve) => request.write(Buffer.alloc(bodyBytesMax - 1, " "), () => resolve()));
  for (let turn = 0; turn < 200; turn += 1) await setImmediate(); // 64 KiB come in each
  return request;
}

const post = (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  store.fetch(path, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
const padded = (bytes: number) => `{"products": []}`.padEnd(bytes);

test("a store's large bodies take half of the room at most, and another store's are read meanwhile", async () => {
  const other = await createTestStore(app);
  const sending: ClientRequest[] = [];
  for (let n = 0; n < 2; n += 1) sending.push(await sendAlmost());
  try {
    const detail = "Too many large bodies arrive at the same time. Nothing was changed.";
    const start = performance.now();
    const [refused, graphql, bomb] = await Promise.all([
      post(paths.bulk, padded(900_000)),
      post("/graphql", JSON.stringify({ query: "{ __typename }" }).padEnd(900_000)),
      post(paths.bulk, gzipSync(padded(900_000)), { "content-encoding": "gzip" }),
    ]);
    expect(performance.now() - start, "they waited for room").toBeGreaterThan(4_000);
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

test("a body that waits for room is read once there is some", async () => {
  const sending = [await sendAlmost(), await sendAlmost()];
  const waiting = post(paths.bulk, padded(900_000));
  for (let turn = 0; turn < 200; turn += 1) await setImmediate();
  sending[0]?.destroy();
  expect((await waiting).status).toBe(200);
  sending[1]?.destroy();
});

test("bodies that were answered, or refused, take nothing any more", async () => {
  const large = () => post(paths.bulk, padded(bodyBytesMax));
  for (let n = 0; n < 6; n += 1) expect((await large()).status).toBe(200);
  const tooLarge = gzipSync(Buffer.concat([Buffer.alloc(bodyBytesMax, " "), randomBytes(10)]));
  for (let n = 0; n < 6; n += 1) {
    expect((await post(paths.bulk, tooLarge, { "content-encoding": "gzip" })).status).toBe(413);
  }
  expect((await large()).status).toBe(200);
});
