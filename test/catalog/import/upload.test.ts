import { readdirSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import zlib, { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { addSite } from "../../../src/stores/site.js";
import { uploadPlaces } from "../../../src/server/content/upload.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { toCsv } from "../../support/catalog/csv.js";
import { ndjsonOf } from "../../support/catalog/ways.js";
import { until } from "../../support/until.js";
import { importedAnswer, paths, product, products, storedKeys, storedProducts } from "../../support/products.js";

const uploadBytesMax = 1024 * 1024;
const app = await openTestApp({ uploadBytesMax, bulkProductsMax: 5 });

const forms = [
  { name: "CSV", path: paths.csv, type: "text/csv", write: toCsv, lineOf: (index: number) => index + 2 },
  { name: "NDJSON", path: paths.bulk, type: "application/x-ndjson", write: ndjsonOf, lineOf: (i: number) => i + 1 },
] as const;
/** More than the 256 KiB of a file that are kept in memory. */
const large = products(30, () => ({ description: "d".repeat(10_000) }));

describe.each(forms)("$name as body", ({ path, type, write, lineOf }) => {
  const send = async (store: TestStore, body: string | Buffer, query = "", headers: Record<string, string> = {}) =>
    readAnswer(
      await store.fetch(`${path}${query}`, {
        method: "POST",
        headers: { "content-type": type, ...headers },
        body: new Uint8Array(Buffer.from(body)),
      }),
    );

  test("arguments are in the query string; unknown and invalid ones are refused, and nothing is stored", async () => {
    const store = await createTestStore(app);
    await addSite(app.db, store.id, "de", "SHOP");
    const body = write([product("a")]);
    expect(await send(store, body, "?dryRun=true")).toMatchObject({ status: 200, body: { imported: 1 } });
    for (const [query, code, place] of [
      ["?dryrun=true", "VALIDATION_FAILED", "dryrun"],
      ["?dryRun=yes", "VALIDATION_FAILED", "dryRun"],
      ["?errorPolicy=IGNORE", "VALIDATION_FAILED", "errorPolicy"],
      ["?siteId=nowhere", "SITE_NOT_FOUND", "siteId"],
    ] as const) {
      expect(await send(store, body, query)).toMatchObject({
        status: 400,
        body: { code, errors: [{ path: [place] }] },
      });
    }
    expect(await storedProducts(app, store)).toEqual([]);
    const headers = { "content-type": `${type}; charset=UTF-8` };
    expect(await send(store, body, "?siteId=de&siteType=SHOP", headers)).toEqual(importedAnswer(1));
    expect(await storedProducts(app, store)).toMatchObject([{ id: "a", sites: ["de"] }]);
    expect(await send(store, write([product("b")]), "?mode=REPLACE&maxDeletions=1")).toMatchObject({
      status: 200,
      body: { imported: 1, deleted: 1 },
    });
    expect(await storedKeys(app, store)).toEqual({ b: "sku-b" });
  });

  test("every problem is reported with its line; REJECT_FAILED stores the others", async () => {
    const store = await createTestStore(app);
    const body = write([product("a"), product("b", { price: -1 }), product("c", { sku: "sku-a" }), product("d")]);
    const message = `sku "sku-a" appears in more than one product of this import, first on line ${lineOf(0)} and last on line ${lineOf(2)}.`;
    const refused = await send(store, body);
    expect(refused.body.errors).toMatchObject([
      { code: "DUPLICATE", path: ["sku"], line: lineOf(0), message },
      { code: "INVALID_VALUE", path: ["price"], line: lineOf(1) },
    ]);
    expect(await storedProducts(app, store)).toEqual([]);
    const partly = await send(store, body, "?errorPolicy=REJECT_FAILED");
    expect(partly).toMatchObject({ status: 200, body: { imported: 1, failed: 3 } });
    expect(partly.body.failures).toMatchObject([0, 1, 2].map((row) => ({ line: lineOf(row), index: null })));
  });

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const)("a body compressed with %s is inflated", async (coding, compress) => {
    const store = await createTestStore(app);
    const body = compress(Buffer.from(write(large)));
    expect(await send(store, body, "", { "content-encoding": coding })).toEqual(importedAnswer(30));
  });

  test("zstd is inflated where Node.js can, and otherwise refused with the codings that are accepted", async () => {
    const store = await createTestStore(app);
    const { zstdCompressSync, constants } = zlib as unknown as {
      zstdCompressSync?: (body: Buffer, options?: object) => Buffer;
      constants: { ZSTD_c_windowLog: number };
    };
    const sent = Buffer.from(write([product("a")]));
    const headers = { "content-encoding": "zstd" };
    if (zstdCompressSync !== undefined) {
      expect(await send(store, zstdCompressSync(sent), "", headers)).toEqual(importedAnswer(1));
      const params = { [constants.ZSTD_c_windowLog]: 27 }; // 128 MiB, of which RFC 9659 allows 8
      const greedy = zstdCompressSync(Buffer.concat([sent, Buffer.alloc(10_000_000, "\n")]), { params });
      expect(await send(store, greedy, "", headers)).toMatchObject({ status: 400 });
      return;
    }
    const response = await store.fetch(path, {
      method: "POST",
      headers: { "content-type": type, ...headers },
      body: sent,
    });
    expect([response.status, response.headers.get("accept-encoding")]).toEqual([415, "gzip, deflate, br"]);
  });

  test("a body above MAX_UPLOAD_BYTES is 413, sent as it is, in chunks, or inflated from a few bytes", async () => {
    const store = await createTestStore(app);
    const beyond = Buffer.alloc(uploadBytesMax + 1, " \n");
    const tooLarge = { status: 413, body: { code: "PAYLOAD_TOO_LARGE" } };
    expect(await send(store, beyond)).toMatchObject(tooLarge);
    expect(await send(store, gzipSync(beyond), "", { "content-encoding": "gzip" })).toMatchObject(tooLarge);
    expect(await send(store, Buffer.from("no gzip"), "", { "content-encoding": "gzip" })).toMatchObject({
      status: 400,
    });
    expect(await storedProducts(app, store)).toEqual([]);
  });

  test("a body of exactly MAX_UPLOAD_BYTES is imported", async () => {
    const store = await createTestStore(app);
    const body = Buffer.alloc(uploadBytesMax, "\n");
    body.write(write([product("a")]));
    expect(await send(store, body)).toEqual(importedAnswer(1));
  });

  test("the same request with the same Idempotency-Key is one import; another body or argument is refused", async () => {
    const store = await createTestStore(app);
    const headers = { "idempotency-key": `key-${store.id}` };
    expect(await send(store, write(large), "", headers)).toEqual(importedAnswer(30));
    await store.delete(paths.of("p00000"));
    const compressed = gzipSync(write(large));
    const again = await send(store, compressed, "", { ...headers, "content-encoding": "gzip" });
    expect(again, "the inflated body counts").toEqual(importedAnswer(30));
    expect(await storedProducts(app, store)).toHaveLength(29);
    expect(await send(store, write(large.slice(1)), "", headers)).toMatchObject({ status: 422 });
    expect(await send(store, write(large), "?errorPolicy=REJECT_FAILED", headers)).toMatchObject({ status: 422 });
  });

  test("text that is not UTF-8 is refused with its line", async () => {
    const store = await createTestStore(app);
    for (const list of [[product("a")], large]) {
      const good = Buffer.from(write(list));
      const body = Buffer.concat([good, Buffer.from([0x41, 0xe4, 0x0a])]);
      const answer = await send(store, body);
      expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
      expect(answer.body.errors[0].message).toContain(`Line ${lineOf(list.length)} is not valid UTF-8`);
    }
    expect(await storedProducts(app, store)).toEqual([]);
  });

  test("a connection that is cut in the middle stores nothing", async () => {
    const store = await createTestStore(app);
    const body = write(large);
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Service-Access-Token: ${store.token}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
    );
    socket.write(body.slice(0, -200));
    await expect.poll(() => uploadPlaces.held).toBe(1);
    socket.destroy();
    await expect.poll(() => uploadPlaces.held).toBe(0);
    expect(await storedProducts(app, store)).toEqual([]);
    expect(await send(store, body)).toEqual(importedAnswer(30));
  });
});

test("NDJSON may have blank lines, CRLF and a byte order mark, and a line that is not a product is reported", async () => {
  const store = await createTestStore(app);
  const post = async (body: string) =>
    readAnswer(
      await store.fetch(paths.bulk, { method: "POST", headers: { "content-type": "application/x-ndjson" }, body }),
    );
  const [a, b] = [JSON.stringify(product("a")), JSON.stringify(product("b"))];
  expect(await post(`\uFEFF${a}\r\n\r\n  \n${b}`)).toEqual(importedAnswer(2));
  const { body } = await post(`${a}\n{"id": \n[]\n"text"\n${JSON.stringify({ ...product("c"), colour: 1 })}\n`);
  expect(body.errors).toMatchObject([
    { code: "MALFORMED", line: 2, path: [] },
    { code: "INVALID_TYPE", line: 3, path: [] },
    { code: "INVALID_TYPE", line: 4, path: [] },
    { code: "UNKNOWN_FIELD", line: 5, path: ["colour"] },
  ]);
});

test("other media types, and a file on a path without file imports, are refused with 415", async () => {
  const store = await createTestStore(app);
  for (const [path, type] of [
    [paths.csv, "application/x-ndjson"],
    [paths.bulk, "text/csv"],
    [paths.one, "text/csv"],
    [paths.csv, "text/csv; charset=iso-8859-1"],
    [paths.csv, "text/plain"],
  ] as const) {
    const response = await store.fetch(path, { method: "POST", headers: { "content-type": type }, body: "{}" });
    expect([path, type, response.status]).toEqual([path, type, 415]);
  }
});

const openFiles = () =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes("/vitrine-");
    } catch {
      return false; // closed meanwhile
    }
  });

test.each([
  ["a ZIP archive", [0x50, 0x4b, 0x03, 0x04], "Unpack it"],
  ["an Excel workbook", [0x50, 0x4b, 0x03, 0x04, ...Buffer.from("xl/workbook.xml")], "Save it as CSV"],
  ["compressed with gzip", [0x1f, 0x8b], "Content-Encoding: gzip"],
])("%s is named over each road, short and long, and no temporary file stays open", async (name, start, advice) => {
  const store = await createTestStore(app);
  for (const { path, type } of forms) {
    for (const length of [20, 400_000]) {
      const body = Buffer.concat([Buffer.from(start), Buffer.alloc(length, "x\n")]);
      const headers = { "content-type": type };
      const answer = await readAnswer(await store.fetch(path, { method: "POST", headers, body: new Uint8Array(body) }));
      expect(answer).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
      expect(JSON.stringify(answer.body)).toMatch(new RegExp(`The file is .*${name}.*${advice}`, "u"));
    }
  }
  await until(() => openFiles().length === 0, "temporary files to be closed");
});
