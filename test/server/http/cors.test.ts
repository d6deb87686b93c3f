import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestStore, startApp, type TestApp, type TestStore } from "../../support/app.js";
import { receive, variesBy } from "../../support/http/bytes.js";
import { paths, product, storedProducts } from "../../support/products.js";

const [shop, desk] = ["https://shop.example", "http://localhost:5173"] as const;
const strangers = [
  "https://evil.example",
  "https://shop.example.evil.example",
  "https://shop.example:8443",
  "http://shop.example",
  "https://SHOP.example",
  "https://shop.exampl",
  "null",
  "",
  "*",
];
const everywhere = ["/", "/healthz", "/openapi.json", "/graphql", "/nowhere", paths.one, paths.bulk, paths.of("a")];

let open: TestApp;
let closed: TestApp;
let store: TestStore;
beforeAll(async () => {
  open = await startApp();
  closed = await startApp({ corsOrigins: [shop, desk] });
  store = await createTestStore(closed);
});
afterAll(async () => {
  await open.close();
  await closed.close();
});

const preflight = (app: TestApp, path: string, origin: string, more: Record<string, string> = {}) =>
  receive(app.url, path, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST", ...more },
  });

const namesIn = (list: string | undefined) => (list ?? "").toLowerCase().split(/,\s*/u);

describe("a preflight", () => {
  test("of an allowed origin is answered at every path, without a token and without a body", async () => {
    for (const origin of [shop, desk]) {
      for (const path of everywhere) {
        const { status, headers, bytes } = await preflight(closed, path, origin);
        expect({ path, status, length: bytes.length }).toEqual({ path, status: 204, length: 0 });
        expect(headers["access-control-allow-origin"]).toBe(origin);
        expect(namesIn(headers["access-control-allow-methods"])).toEqual([
          "get",
          "head",
          "post",
          "put",
          "delete",
          "options",
        ]);
        expect(headers["access-control-max-age"]).toBe("600");
        expect(headers["access-control-allow-credentials"]).toBeUndefined();
      }
    }
  });

  test("allows every header that the service reads", async () => {
    const { headers } = await preflight(closed, paths.one, shop);
    expect(namesIn(headers["access-control-allow-headers"])).toEqual(
      expect.arrayContaining([
        "content-type",
        "content-encoding",
        "x-service-access-token",
        "x-request-id",
        "if-none-match",
      ]),
    );
  });

  test.each([
    "traceparent",
    "content-type,x-service-access-token,traceparent,tracestate,baggage",
    "apollographql-client-name, apollographql-client-version, cache-control",
    "X-Request-ID",
  ])("allows headers that it names, also those of tracing and of clients: %s", async (names) => {
    const named = { "access-control-request-headers": names };
    for (const path of everywhere) {
      const { headers } = await preflight(closed, path, shop, named);
      expect(headers["access-control-allow-headers"]).toBe(names);
      expect(headers["access-control-allow-credentials"]).toBeUndefined();
    }
  });

  test.each(["a b", "a;b", "a,,b", ",,", "*\u00e9", 'x-"quoted"', "x".repeat(3_000)])(
    "does not repeat what is no list of names: %j",
    async (names) => {
      const { headers } = await preflight(closed, paths.one, shop, { "access-control-request-headers": names });
      expect(namesIn(headers["access-control-allow-headers"])).toContain("x-service-access-token");
      expect(headers["access-control-allow-headers"]).not.toContain(names);
    },
  );

  test.each(strangers)("of %j, which is not allowed, allows nothing, nor may that read a call", async (origin) => {
    for (const path of everywhere) {
      const refused = await preflight(closed, path, origin);
      expect(refused.status).toBeGreaterThanOrEqual(400);
      for (const answer of [refused, await receive(closed.url, path, { headers: { origin } })]) {
        expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
        expect(variesBy(answer)).toContain("origin");
      }
    }
  });

  test("does not depend on the origin where all are allowed", async () => {
    const answer = await preflight(open, paths.one, "https://anybody.example");
    expect(answer).toMatchObject({ status: 204, headers: { "access-control-allow-origin": "*" } });
    expect(answer.headers["access-control-allow-credentials"]).toBeUndefined();
    expect(variesBy(answer)).not.toContain("origin");
  });
});

describe("a call", () => {
  const exposed = ["x-request-id", "etag", "allow", "retry-after", "ratelimit", "ratelimit-policy"];

  test("of an allowed origin may be read by it, refusals too, and is cached for that origin alone", async () => {
    for (const path of everywhere) {
      const answer = await receive(closed.url, path, { headers: { origin: desk } });
      expect({ path, origin: answer.headers["access-control-allow-origin"] }).toEqual({ path, origin: desk });
      expect(namesIn(answer.headers["access-control-expose-headers"])).toEqual(expect.arrayContaining(exposed));
      expect(variesBy(answer)).toContain("origin");
    }
  });

  test("that is malformed or too large may be read too", async () => {
    const headers = { origin: shop, "content-type": "text/plain", "X-Service-Access-Token": store.token };
    for (const [method, path, status] of [
      ["POST", paths.one, 415],
      ["POST", "/graphql", 415],
      ["GET", `/graphql?x=${"a".repeat(9_000)}`, 414],
      ["PUT", paths.one, 405],
    ] as const) {
      expect(await receive(closed.url, path, { method, headers })).toMatchObject({
        status,
        headers: { "access-control-allow-origin": shop },
      });
    }
  });

  test("without an origin, as of programs, has no CORS headers", async () => {
    const answer = await receive(closed.url, paths.of("none"), {
      headers: { "X-Service-Access-Token": store.token },
    });
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

test("a simple request of another site has no token and changes nothing", async () => {
  const mutation = `mutation { deleteProduct(productId: "kept") { message } }`;
  await store.post(paths.one, { product: product("kept") });
  const page = {
    origin: "https://evil.example",
    cookie: `token=${store.token}; X-Service-Access-Token=${store.token}`,
  };
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
    for (const path of ["/graphql", paths.one, paths.bulk]) {
      const headers = { ...page, "content-type": type };
      const body = JSON.stringify({ query: mutation });
      expect((await receive(closed.url, path, { method: "POST", headers, body })).status).toBe(401);
    }
  }
  for (const query of [mutation, "{ products { nodes { id } } }"]) {
    const path = `/graphql?query=${encodeURIComponent(query)}`;
    expect((await receive(closed.url, path, { headers: page })).status).toBe(401);
  }
  expect(await storedProducts(closed, store)).toHaveLength(1);
});
