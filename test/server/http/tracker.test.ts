import { createHash } from "node:crypto";
import { brotliCompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openTestApp } from "../../support/app.js";
import { issueKey } from "../../../src/stores/publicKey.js";
import { receive } from "../../support/http/bytes.js";
import { storeWithShow } from "../../support/events.js";

const app = await openTestApp({ corsOrigins: ["https://admin.example"] });

const path = "/tracker/v1.js";
const read = (headers: Record<string, string> = {}) => receive(app.url, path, { headers });

test("the tracker may be loaded by pages of any origin, and is cached for an hour", async () => {
  const { status, headers } = await read({ origin: "https://shop.example" });
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=3600",
    "cross-origin-resource-policy": "cross-origin",
    "access-control-allow-origin": "*",
    "x-content-type-options": "nosniff",
    etag: expect.stringMatching(/^W\/"/u),
    vary: "Accept-Encoding",
  });
  const again = await read({ "if-none-match": headers.etag ?? "" });
  expect([again.status, again.bytes.length]).toEqual([304, 0]);
});

test("its answers are the same with and without Origin, so that caches may give either to any page", async () => {
  const headersOf = async (more: Record<string, string>) => {
    const { status, headers } = await read(more);
    const { date: _date, "x-request-id": _id, ...others } = headers;
    return { status, ...others };
  };
  const { etag = "" } = (await read()).headers;
  for (const more of [{}, { "if-none-match": etag }, { "accept-encoding": "br" }] as Record<string, string>[]) {
    const without = await headersOf(more);
    expect(without).toMatchObject({ "access-control-allow-origin": "*" });
    for (const origin of ["https://shop.example", "https://admin.example", "null"]) {
      expect(await headersOf({ ...more, origin })).toEqual(without);
    }
  }
});

test.each([
  ["br", 3_400],
  ["gzip", 3_800],
] as const)("the tracker is served compressed as %s", async (coding, bytesMax) => {
  const { headers, bytes } = await read({ "accept-encoding": coding });
  expect(headers["content-encoding"]).toBe(coding);
  expect(bytes.length).toBeLessThanOrEqual(bytesMax);
});

test("an address with its hash is cached for ever, and serves what its digest says", async () => {
  const { headers } = await read();
  const hashed = await receive(app.url, `/tracker/${headers["content-location"]}`, {
    headers: { origin: "https://shop.example", "accept-encoding": "gzip" },
  });
  expect(hashed.headers).toMatchObject({
    "cache-control": "public, max-age=31536000, immutable",
    "access-control-allow-origin": "*",
    "content-encoding": "gzip",
  });
  const script = gunzipSync(hashed.bytes);
  const digest = createHash("sha256").update(script).digest("base64");
  expect(hashed.headers["repr-digest"]).toBe(`sha-256=:${digest}:`);
  expect(script).toEqual((await read()).bytes);
  expect((await receive(app.url, "/tracker/v1.0123456789.js")).status).toBe(404);
});

test("with TRACKING_PATH, script and endpoint are also below that path", async () => {
  const other = await openTestApp({ trackingPath: "/shop-insights", collectRateLimit: 0 });
  const { store, lsId } = await storeWithShow(other);
  const { key } = await issueKey(other.db, store.id, { origins: ["https://shop.example"] });
  const { bytes } = await receive(other.url, "/shop-insights/v1.js");
  expect(bytes).toEqual((await receive(other.url, path)).bytes);
  const events = [{ id: "e", type: "VIEW", seconds: 1 }];
  for (const endpoint of ["/shop-insights/v1", "/collect/v1"]) {
    const response = await fetch(`${other.url}${endpoint}`, {
      method: "POST",
      headers: { origin: "https://shop.example", "content-type": "text/plain" },
      body: JSON.stringify({ key, show: lsId, channel: "LIVE", viewer: "v1", events }),
    });
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([202, "*"]);
  }
  expect((await receive(app.url, "/shop-insights/v1.js")).status).toBe(404);
});

test("the tracker has at most 3.4 kB, and neither evaluates text nor sets cookies", async () => {
  const { bytes } = await read();
  expect(brotliCompressSync(bytes).length).toBeLessThanOrEqual(3_400);
  expect(bytes.toString()).not.toMatch(/\beval\b|\bFunction\(|cookie|innerHTML/u);
});
