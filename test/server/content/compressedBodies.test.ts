import { randomBytes } from "node:crypto";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { acceptedCodings } from "../../../src/server/content/body.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { exchange } from "../../support/http/exchange.js";
import { graphqlError, problemBody } from "../../support/problems.js";
import { paths, products, storedProducts } from "../../support/products.js";

const bytesMax = 1_000_000;
const app = await openTestApp({ bodyBytesMax: bytesMax });
const store = await createTestStore(app);

/** The best quality, which is the default, takes a hundred times as long. */
const quickBrotli = { [constants.BROTLI_PARAM_QUALITY]: 4 };

const codings: [string, (body: Buffer) => Buffer][] = [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", (body) => brotliCompressSync(body, { params: quickBrotli })],
];

interface Sent {
  readonly body: readonly Buffer[];
  readonly coding: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly caller?: TestStore;
}

function post(path: string, { body, coding, headers = {}, caller = store }: Sent) {
  const own = {
    "content-type": "application/json",
    "content-encoding": coding,
    "X-Service-Access-Token": caller.token,
    ...headers,
  };
  return exchange(app.url, path, { method: "POST", headers: own, body });
}

const jsonOf = (value: unknown) => Buffer.from(JSON.stringify(value));
const lengthOf = (body: Buffer) => ({ "content-length": String(body.length) });
const bulk = jsonOf({ products: products(60) });

/** Both styles refuse alike. */
async function expectRefused(sent: Sent, code: string, detail: string): Promise<void> {
  const { status } = problemBody(code, detail);
  for (const path of [paths.one, paths.bulk, paths.csv]) {
    expect(await post(path, sent)).toMatchObject({ status, body: problemBody(code, detail) });
  }
  expect(await post("/graphql", sent)).toMatchObject({ status, body: { errors: [graphqlError(code, detail)] } });
}

test.each(["x-gzip", "GZIP"])("%s is another name of gzip", async (coding) => {
  expect(await post(paths.bulk, { coding, body: [gzipSync(bulk)] })).toMatchObject({ status: 200 });
});

describe.each(codings)("a body in %s", (coding, pack) => {
  test("is accepted with and without Content-Length, in one piece or byte by byte", async () => {
    const packed = pack(bulk);
    expect(packed.length).toBeLessThan(bulk.length / 4);
    for (const [headers, body] of [
      [lengthOf(packed), [packed]],
      [{ "transfer-encoding": "chunked" }, [packed]],
      [lengthOf(packed), [...Array.from(packed.subarray(0, 300), (byte) => Buffer.of(byte)), packed.subarray(300)]],
    ] as const) {
      const caller = await createTestStore(app);
      expect(await post(paths.bulk, { coding, headers, body, caller })).toMatchObject({
        status: 200,
        body: { imported: 60 },
      });
      expect(await storedProducts(app, caller)).toHaveLength(60);
    }
  });

  test("is accepted by GraphQL, by the fast path and by Yoga", async () => {
    const packed = pack(jsonOf({ query: "{ __typename }" }));
    for (const path of ["/graphql?lane=yoga", "/graphql", "/graphql", "/graphql"]) {
      const answer = await post(path, { coding, headers: lengthOf(packed), body: [packed] });
      expect(answer).toMatchObject({ status: 200, body: { data: { __typename: "Query" } } });
    }
  });

  test("may have MAX_BODY_BYTES bytes once inflated, and not one more", async () => {
    const whole = (length: number) => pack(Buffer.from('{"products":[]}'.padEnd(length)));
    expect(await post(paths.bulk, { coding, body: [whole(bytesMax)] })).toMatchObject({ status: 200 });
    const detail = `The body may have at most ${bytesMax} bytes (MAX_BODY_BYTES).`;
    await expectRefused({ coding, body: [whole(bytesMax + 1)] }, "PAYLOAD_TOO_LARGE", detail);
    const announced = { "content-length": String(bytesMax + 1) };
    const sent = randomBytes(bytesMax + 1);
    expect(await post(paths.bulk, { coding, headers: announced, body: [sent] })).toMatchObject({ status: 413 });
  });

  test("that is not compressed, damaged or truncated is a bad request, and nothing is stored", async () => {
    const caller = await createTestStore(app);
    const packed = pack(bulk);
    const half = packed.length / 2;
    // Not random bytes: to brotli they may mean JSON that is refused for its depth.
    const damaged = Buffer.concat([packed.subarray(0, half), Buffer.alloc(half, 0xff)]);
    const detail = "The body does not match its content-encoding, or is incomplete.";
    const bodies = [bulk, Buffer.from("x"), damaged, packed.subarray(0, -1), packed.subarray(0, 20)];
    for (const body of bodies) await expectRefused({ coding, body: [body], caller }, "BAD_REQUEST", detail);
    expect(await storedProducts(app, caller)).toEqual([]);
  });

  test("may have trailing bytes, which are ignored", async () => {
    const body = [pack(Buffer.from('{"products":[]}')), Buffer.alloc(500_000)];
    expect((await post(paths.bulk, { coding, body })).status).toBe(200);
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
  });

  test("that is empty is not JSON", async () => {
    const packed = pack(Buffer.alloc(0));
    const detail = "The body is not valid JSON in UTF-8: see line 1, column 1.";
    expect(await post(paths.bulk, { coding, body: [packed] })).toMatchObject({
      body: problemBody("BAD_REQUEST", detail),
    });
  });
});

test("a decompression bomb of some kilobytes is refused", async () => {
  const content = Buffer.alloc(10_000_000, " "); // what is beyond the limit is not inflated: see body.test.ts
  const packed = { br: brotliCompressSync(content, { params: quickBrotli }), gzip: gzipSync(content, { level: 1 }) };
  for (const [coding, bomb] of Object.entries(packed)) {
    expect(bomb.length).toBeLessThan(bytesMax);
    expect(await post(paths.bulk, { coding, body: [bomb] })).toMatchObject({ status: 413 });
  }
});

describe("UNSUPPORTED_MEDIA_TYPE", () => {
  test.each([
    ...(acceptedCodings.includes("zstd") ? [] : ["zstd"]),
    "compress",
    "gzip, gzip",
    "gzip,br",
    "identity, gzip",
    "gzip;q=1",
    "constructor",
    "aes128gcm",
  ])("is answered to %s, with the supported encodings", async (coding) => {
    const detail = `The content-encoding must be one of ${acceptedCodings}.`;
    await expectRefused({ coding, body: [gzipSync(bulk)] }, "UNSUPPORTED_MEDIA_TYPE", detail);
    for (const path of [paths.bulk, "/graphql"]) {
      const { headers } = await post(path, { coding, body: [gzipSync(bulk)] });
      expect(headers["accept-encoding"]).toBe(acceptedCodings);
    }
  });

  test("is not answered to identity", async () => {
    const body = [Buffer.from('{"products":[]}')];
    for (const coding of ["identity", "Identity", ""]) {
      expect(await post(paths.bulk, { coding, body })).toMatchObject({ status: 200 });
    }
  });
});

test("deflate is the zlib format, as RFC 9110 defines it: raw deflate is a bad request", async () => {
  expect(await post(paths.bulk, { coding: "deflate", body: [deflateRawSync(bulk)] })).toMatchObject({ status: 400 });
});
