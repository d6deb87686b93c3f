import { METHODS } from "node:http";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startApp, type TestApp, type TestStore } from "../support/app.js";
import { checkRedirect, checkedGraphQL, checkedRest } from "../support/fuzz/fuzz.answers.js";
import { catalogOf, storeWithSite } from "../support/fuzz/fuzz.catalog.js";
import { harmDone, type RawAnswer, sendRaw } from "../support/fuzz/fuzz.js";
import { shortTexts } from "../support/fuzz/fuzz.values.js";
import { paths, product } from "../support/products.js";
import { digestOf } from "../support/stored.js";

let app: TestApp;
let store: TestStore;
beforeAll(async () => {
  app = await startApp({ analyticsRateLimit: 0, bodyBytesMax: 50_000 });
  store = await storeWithSite(app);
  await catalogOf(app, store);
});
afterAll(() => app.close());

/** What node:http lets a client send in a header. */
const headerTexts = shortTexts.map((text) =>
  Buffer.from(text)
    .toString("latin1")
    .replaceAll(/[^\t\x20-\x7e\x80-\xff]/gu, ""),
);
const valueOf = (...usual: [string, ...string[]]) =>
  fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: headerTexts });
const mediaTypes = [
  "application/json",
  "application/graphql-response+json",
  "text/html",
  "text/event-stream",
  "multipart/mixed",
  "*/*",
  "image/png",
  "application/json;q=0",
  "text/plain;q=0.1, */*;q=0",
] as const;

/** Headers that mean something to the server; none that frames a message, which node:http itself checks. */
const headers = fc.record(
  {
    "content-type": valueOf(
      "application/json",
      "application/json; charset=utf-8",
      "application/json; charset=utf-16",
      "application/graphql",
      "multipart/form-data; boundary=x",
      "text/plain",
      "application/x-www-form-urlencoded",
    ),
    "content-encoding": valueOf("identity", "gzip", "br"),
    accept: valueOf(...mediaTypes),
    "accept-encoding": valueOf("gzip;q=1, *;q=0", "br", "identity;q=0", "gzip;q=nan"),
    "accept-language": headerTexts,
    host: valueOf("localhost", "a:99999999", "[", "//x", ""),
    origin: valueOf("https://shop.example", "null"),
    "access-control-request-method": valueOf("POST"),
    "if-none-match": valueOf("*", '"a"', 'W/"'),
    "x-request-id": valueOf("abc"),
    "x-http-method-override": valueOf("DELETE"),
    "x-forwarded-host": valueOf("evil.example"),
    cookie: headerTexts,
    authorization: headerTexts,
    range: valueOf("bytes=0-1"),
  },
  { requiredKeys: [] },
);
const methods = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH") },
  { weight: 1, arbitrary: fc.constantFrom(...METHODS.filter((method) => method !== "CONNECT")) },
);
const segments = fc.oneof(
  fc.constantFrom(
    "external",
    "product",
    "v1",
    "bulk",
    "csv",
    "analytics",
    "live-streams",
    "graphql",
    "",
    ".",
    "..",
    "%2e%2e",
    "%",
    "%c0%af",
    "a",
  ),
  shortTexts.map((text) => encodeURIComponent(text.toWellFormed())),
  shortTexts.map((text) => text.replaceAll(/[^!-~]/gu, "")),
);
const places = fc.oneof(
  fc.constantFrom(
    paths.one,
    paths.bulk,
    paths.csv,
    paths.of("a"),
    "/external/analytics/v1/live-streams/a",
    "/external/analytics/v1/live-streams/a/events",
    "/collect/v1",
    "/graphql",
    "/",
    "/openapi.json",
    "/healthz",
    "/readyz",
    "*",
    "//",
    "/external",
  ),
  fc.array(segments, { maxLength: 7 }).map((parts) => `/${parts.join("/")}`),
);
const graphqlParameters = fc.record(
  {
    query: fc.oneof(
      fc.constantFrom(
        "{__typename}",
        "{products{nodes{id}}}",
        'mutation{deleteProduct(productId:"a"){message}}',
        'subscription{liveStreamAnalytics(lsId:"a"){id}}',
      ),
      shortTexts,
    ),
    variables: fc.oneof(fc.constantFrom("{}", "{", "[]", "null", '{"__proto__":1}', '{"then":1}'), shortTexts),
    extensions: fc.oneof(fc.constantFrom("{}", "{", '{"persistedQuery":{"version":1,"sha256Hash":"x"}}'), shortTexts),
    operationName: shortTexts,
  },
  { requiredKeys: [] },
);
const searches = fc.oneof(
  fc.constant(""),
  shortTexts.map((text) => `?${text.replaceAll(/[^!-~]/gu, "")}`),
  graphqlParameters.map((given) => `?${new URLSearchParams(given).toString()}`),
);
const sentBodies = fc.oneof(
  fc.constantFrom(
    undefined,
    "",
    "{}",
    "x".repeat(60_000),
    JSON.stringify({ query: "{ __typename }" }),
    JSON.stringify({ product: { ...product("z"), title: "" } }),
  ),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
);
const requests = fc.record({ method: methods, place: places, search: searches, headers, body: sentBodies });

/** 200, 204, 304 and redirects as they are; everything else must be an error in the form of its path. */
function checkAnswer(answer: RawAnswer, method: string, path: string, search: string): void {
  const { status, headers: received, text } = answer;
  expect(status).toBeLessThan(500);
  expect(received).toMatchObject({
    "x-request-id": expect.stringMatching(/^[\w.:-]{1,128}$/u),
    "x-content-type-options": "nosniff",
  });
  expect([received["server"], received["x-powered-by"], received["x-injected"]]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  if (method === "HEAD" || status === 204 || status === 304) return expect(text).toBeUndefined();
  if (status === 308) return checkRedirect(answer, path, search);
  if (status === 200 && !received["content-type"]?.includes("json")) return; // pages, and GraphQL in parts or events
  if (/^(?:multipart|text\/event-stream)/u.test(received["content-type"] ?? "")) return;
  if (path === "/graphql") checkedGraphQL(answer);
  else checkedRest(answer);
}

test("whatever the method, path, query string and headers, the answer is whole, in the form of its path, and nothing is changed", async () => {
  const before = await digestOf(app, store);
  const property = fc.asyncProperty(requests, async ({ method, place, search, headers: sent, body }) => {
    const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >;
    fc.pre(!(method === "DELETE" && place === paths.of("a")));
    const call = { method, path: `${place}${search}`, headers: given, ...(body !== undefined && { body }) };
    checkAnswer(await sendRaw(app, store, call), method, place, search.slice(1));
  });
  await fc.assert(property);
  expect(await digestOf(app, store)).toBe(before);
  expect(harmDone(app)).toEqual([]);
});
