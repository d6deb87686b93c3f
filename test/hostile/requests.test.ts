import { describe, expect, test } from "vitest";
import { LineSplitter } from "../../src/events/files/ndjson.js";
import { cutBody } from "../../src/lib/json/jsonBody.js";
import { JsonScanner } from "../../src/lib/json/scanJson.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { send } from "../support/call.js";
import { paths, product } from "../support/products.js";
import { expectLinear, repeated, visibleUnits } from "../support/repetitions.js";

const app = await openTestApp({ analyticsRateLimit: 0 });
const store = await createTestStore(app);
const token = { "x-service-access-token": store.token };

/** Calls that are answered, whatever the answer is. */
async function answered(path: string, method = "GET", headers: Readonly<Record<string, string>> = {}, body?: string) {
  const { status } = await send(`${app.url}${path}`, { method, headers: { ...token, ...headers }, body });
  expect(status, `${method} ${path.slice(0, 60)}`).toBeLessThan(500);
}

/** 8,192 characters of path and query string, and 16 KB of headers, are the most that are read. */
const [urlMax, headerMax] = [8_000, 12_000];

const csv = { "content-type": "text/csv" };

test.each([
  ["a product's id", (text: string) => `/external/product/v1/${text}`],
  ["a path", (text: string) => `/${text}`],
  ["a query string", (text: string) => `/external/analytics/v1/live-streams?${text}`],
  ["a search", (text: string) => `/external/analytics/v1/live-streams?search=${text}`],
  ["a timestamp", (text: string) => `/external/product/v1/bulk/ndjson?updatedSince=2026-05-04T18:30:00.${text}`],
  ["GraphQL in a query string", (text: string) => `/graphql?query=${text}`],
  ["variables in a query string", (text: string) => `/graphql?query={a}&variables=${text}`],
  ...["urlTemplate", "delimiter", "encoding", "format"].map(
    (name) => [`${name} of a file`, (text: string) => `${paths.csv}?${name}=${text}`, csv] as const,
  ),
] as const)("%s", async (_, pathOf, headers?: typeof csv) => {
  const ask = (text: string) =>
    headers === undefined ? answered(pathOf(text)) : answered(pathOf(text), "POST", headers, "id\n1\n");
  await expectLinear((text) => ask(encodeURIComponent(text.toWellFormed()).slice(0, urlMax)), {
    characters: urlMax,
  });
  await expectLinear((text) => ask(text.replaceAll(/[\s"\\{}|]/gu, "+")), { of: visibleUnits, characters: urlMax });
});

test.each([
  "accept",
  "accept-encoding",
  "content-encoding",
  "content-type",
  "cookie",
  "forwarded",
  "idempotency-key",
  "if-none-match",
  "origin",
  "range",
  "tracestate",
  "user-agent",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-request-id",
  "x-service-access-token",
])("the header %s", async (name) => {
  const json = { "content-type": "application/json" };
  const body = JSON.stringify({ key: "vp_a", show: "a", events: [] });
  await expectLinear(
    async (text) => {
      const value = text.trim();
      await answered("/graphql", "POST", { ...json, [name]: value }, '{"query":"{store{id}}"}');
      await answered("/openapi.json", "GET", { [name]: value });
      await answered("/collect/v1", "POST", { ...json, [name]: value }, body);
    },
    { of: visibleUnits, characters: headerMax },
  );
});

describe("bodies", () => {
  const json = { "content-type": "application/json" };
  /** Requests of such a length take long, so each day has one unit. */
  const expectRead = (work: (text: string) => unknown, characters?: number) =>
    expectLinear(work, { characters, tries: 1 });

  test("GraphQL's text, variables and whole bodies", async () => {
    const post = (body: string) => answered("/graphql", "POST", json, body);
    for (const [before, after] of [
      ["", ""],
      ['{a(b:"', '"){c}}'],
      ["{a(b:", ")}"],
      ["{a # ", "\n}"],
      ['{a(b:"""', '"""){c}}'],
    ] as const)
      await expectRead((text) => post(JSON.stringify({ query: `${before}${text}${after}` })), 99_000);
    const query =
      "query ($search: String, $after: String) { products(search: $search, after: $after) { nodes { id } } }";
    await expectRead((text) => post(JSON.stringify({ query, variables: { search: text, after: text } })));
    await expectRead((text) => post(JSON.stringify({ query, variables: { [text]: 1 } })));
    await expectRead((text) => post(`{"query":"{store{id}}","variables":${text}`));
    await expectRead((text) => post(`{"query":"{store{id}}","${text}`));
  });

  test("the fields of a product, unknown members, and whole bodies", async () => {
    const post = (body: string) => answered(paths.one, "POST", json, body);
    const fields = ["id", "title", "description", "url", "price", "unknown"];
    const all = (text: string) => Object.fromEntries(fields.map((name) => [name, text]));
    await expectRead(
      (text) => post(JSON.stringify({ dryRun: true, product: product("a", { ...all(text), images: [text] }) })),
      128 * 1024,
    );
    await expectRead((text) => post(text));
    await expectRead((text) => post(`{"product":{"id":${text}`));
  });

  test("csvContent, and files", async () => {
    const header = "id,sku,title,available,featured_image,url\n";
    await expectRead((text) => answered(paths.csv, "POST", json, JSON.stringify({ csvContent: header + text })));
    await expectRead((text) => answered(paths.csv, "POST", csv, header + text));
    const ndjson = { "content-type": "application/x-ndjson" };
    await expectRead((text) => answered(paths.bulk, "POST", ndjson, `{"id":"${text}`));
    await expectRead((text) =>
      answered("/external/analytics/v1/live-streams/a/events", "POST", ndjson, `{"id":"${text}`),
    );
  });

  test("the tracker's events", async () => {
    const post = (body: string) => answered("/collect/v1", "POST", json, body);
    await expectRead((text) => post(JSON.stringify({ key: text, show: text, events: [] })), 30_000);
    await expectRead((text) => post(text), 30_000);
  });
});

test("lines and JSON that arrive byte by byte", async () => {
  await expectLinear(
    (text) => {
      const bytes = Buffer.from(text);
      const [lines, scanner] = [new LineSplitter(), new JsonScanner()];
      const whole = Buffer.concat([Buffer.from('{"a":"'), bytes]);
      for (let at = 0; at < bytes.length; at += 1) lines.push(bytes.subarray(at, at + 1));
      for (let at = 0; at < whole.length; at += 1) scanner.push(whole.subarray(at, at + 1));
      expect(lines.end().length).toBeLessThanOrEqual(1);
      scanner.end(whole);
    },
    { of: ["a", '"', "\\", "é", " "], tries: 1 },
  );
});

test("a million brackets that close nothing", () => {
  const bytes = Buffer.from(repeated("]", 1_000_000));
  const scanner = new JsonScanner();
  scanner.push(bytes);
  expect(() => cutBody(scanner.end(bytes), [])).toThrow("not valid JSON in UTF-8: see line 1, column 1.");
});
