// @engine embedded
import { brotliCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { openTestApp } from "../support/app.js";
import { receive } from "../support/bytes.js";

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

test.each(["br", "gzip"])("the tracker is served compressed as %s", async (coding) => {
  const { headers, bytes } = await read({ "accept-encoding": coding });
  expect(headers["content-encoding"]).toBe(coding);
  expect(bytes.length).toBeLessThanOrEqual(3_000);
});

test("the tracker has at most 3 kB, and neither evaluates text nor sets cookies", async () => {
  const { bytes } = await read();
  expect(brotliCompressSync(bytes).length).toBeLessThanOrEqual(3_000);
  expect(bytes.toString()).not.toMatch(/\beval\b|\bFunction\(|cookie|innerHTML/u);
});
