import { brotliCompressSync, gzipSync } from "node:zlib";
import type { WholeRequest } from "./breaks.js";
import { toCsv } from "../catalog/csv.js";
import { csvOf } from "../catalog/formats.js";
import { importMany, longRowsOfProcess, paths, products } from "../products.js";
import { record } from "../shows.js";
import { someEvents } from "../figures.js";

/** A kind of request, with the kind of its body. */
export interface Kind {
  readonly name: string;
  /** @param n a number of its own */
  readonly make: (n: number) => WholeRequest;
  readonly isStream?: boolean;
}

interface Site {
  readonly token: string;
  readonly lsId: string;
  /** A public key of the store. */
  readonly key: string;
}

const ndjson = (list: readonly object[]) => list.map((item) => `${JSON.stringify(item)}\n`).join("");
const few = products(20);
const many = products(longRowsOfProcess, () => ({ description: "d".repeat(200) }));
const very = products(3 * longRowsOfProcess);
const invalid = many.map((each, n) => (n % 100 === 0 ? { ...each, url: "nowhere" } : each));
const latin1 = Buffer.from(toCsv(few.map((each) => ({ ...each, title: "Gr\u00f6\u00dfe" }))), "latin1");
const events = someEvents(5_000);

const item = (n: number) =>
  `<item><g:id>x${n}</g:id><g:title>Title</g:title><g:description>${"d".repeat(300)}</g:description>` +
  `<g:link>https://shop.example/${n}</g:link><g:image_link>https://shop.example/${n}.jpg</g:image_link>` +
  "<g:price>10.00 EUR</g:price><g:availability>in_stock</g:availability></item>";
const feed = (count: number) =>
  `<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>${Array.from({ length: count }, (_, n) => item(n)).join("")}</channel></rss>`;

const shopify = csvOf(
  "Handle,Title,Body (HTML),Vendor,Published,Variant SKU,Variant Price,Image Src,Status",
  Array.from({ length: 300 }, (_, n) => ({
    Handle: `h${n}`,
    Title: "Title",
    "Body (HTML)": `<p>${"d".repeat(1_000)}</p>`,
    Published: "true",
    "Variant SKU": `h-${n}`,
    "Variant Price": "10.00",
    "Image Src": "https://shop.example/h.jpg",
    Status: "active",
  })),
);

const watch = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { id kpis { orders { total } } } }";
const csv = "text/csv";

/** All kinds of requests with all kinds of bodies. */
export function kindsOf({ token, lsId, key }: Site): readonly Kind[] {
  const own = { "X-Service-Access-Token": token };
  const send =
    (path: string, type: string, body: string | Buffer, more: Headers = {}) =>
    () =>
      requestOf("POST", path, { ...own, "Content-Type": type, ...more }, Buffer.from(body));
  const json = (path: string, body: object, more: Headers = {}) =>
    send(path, "application/json", JSON.stringify(body), more);
  const get =
    (path: string, more: Headers = {}) =>
    () =>
      requestOf("GET", path, { ...own, ...more });
  const gzip = { "Content-Encoding": "gzip" };
  const graphql = (query: string, variables: object, more: Headers = {}) =>
    json("/graphql", { query, variables }, more);
  const mapped = "?format=shopify&urlTemplate=https%3A%2F%2Fshop.example%2F%7Bhandle%7D";
  const eventPath = `/external/analytics/v1/live-streams/${lsId}/events`;
  const multipart = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json";

  return [
    { name: "a product", make: json(paths.one, { product: few[0] }) },
    { name: "few products", make: json(paths.bulk, { products: few }) },
    { name: "many products", make: json(paths.bulk, { products: many }) },
    {
      name: "many products, gzip",
      make: send(paths.bulk, "application/json", gzipSync(JSON.stringify({ products: many })), gzip),
    },
    {
      name: "many products with a key",
      make: (n) => json(paths.bulk, { products: many }, { "Idempotency-Key": `k${n}` })(),
    },
    { name: "short csvContent", make: json(paths.csv, { csvContent: toCsv(few) }) },
    { name: "long csvContent", make: json(paths.csv, { csvContent: toCsv(many) }) },
    { name: "short CSV", make: send(paths.csv, csv, toCsv(few)) },
    { name: "short CSV that is not UTF-8", make: send(`${paths.csv}?encoding=latin1`, csv, latin1) },
    { name: "long CSV", make: send(paths.csv, csv, toCsv(many)) },
    { name: "long CSV in chunks", make: send(paths.csv, csv, toCsv(many), { "Transfer-Encoding": "chunked" }) },
    { name: "long CSV, gzip", make: send(paths.csv, csv, gzipSync(toCsv(many)), gzip) },
    {
      name: "long CSV, brotli",
      make: send(paths.csv, csv, brotliCompressSync(toCsv(many)), { "Content-Encoding": "br" }),
    },
    { name: "long CSV with a key", make: (n) => send(paths.csv, csv, toCsv(many), { "Idempotency-Key": `c${n}` })() },
    {
      name: "long CSV of which some rows fail",
      make: send(`${paths.csv}?errorPolicy=REJECT_FAILED`, csv, toCsv(invalid)),
    },
    { name: "a dry run of long CSV", make: send(`${paths.csv}?dryRun=true`, csv, toCsv(many)) },
    { name: "long CSV of Shopify", make: send(`${paths.csv}${mapped}`, csv, shopify) },
    { name: "short NDJSON", make: send(paths.bulk, "application/x-ndjson", ndjson(few)) },
    { name: "long NDJSON", make: send(paths.bulk, "application/x-ndjson", ndjson(very)) },
    { name: "short XML", make: send(`${paths.csv}?format=google`, csv, feed(5)) },
    { name: "long XML", make: send(`${paths.csv}?format=google`, csv, feed(longRowsOfProcess)) },
    { name: "events as NDJSON", make: send(eventPath, "application/x-ndjson", ndjson(events)) },
    { name: "events as NDJSON, gzip", make: send(eventPath, "application/x-ndjson", gzipSync(ndjson(events)), gzip) },
    { name: "the mutation of events", make: graphql(record, { lsId, events: events.slice(0, 500) }) },
    { name: "the mutation of many products", make: graphql(importMany, { products: many }) },
    {
      name: "a query that is new",
      make: (n) => graphql(`query q${n} { products(first: 50) { nodes { id description } } }`, {})(),
    },
    {
      name: "a query that is known",
      make: graphql(
        "{ products(first: 100) { totalCount nodes { id description } } }",
        {},
        { "Accept-Encoding": "gzip" },
      ),
    },
    { name: "a query in the URL", make: get("/graphql?query=%7Bproducts%7Bnodes%7Bid%7D%7D%7D") },
    {
      name: "a subscription to events",
      make: graphql(watch, { lsId }, { Accept: "text/event-stream" }),
      isStream: true,
    },
    { name: "a subscription in parts", make: graphql(watch, { lsId }, { Accept: multipart }), isStream: true },
    {
      name: "a subscription in the URL",
      make: get(
        `/graphql?query=${encodeURIComponent(watch)}&variables=${encodeURIComponent(JSON.stringify({ lsId }))}`,
        { Accept: "text/event-stream" },
      ),
      isStream: true,
    },
    { name: "a product by its id", make: get(paths.of("p00001")) },
    { name: "figures of a show", make: get(`/external/analytics/v1/live-streams/${lsId}`) },
    { name: "an export as CSV", make: get(paths.csv) },
    { name: "an export as NDJSON, gzip", make: get(paths.ndjson, { "Accept-Encoding": "gzip" }) },
    {
      name: "an export of shows",
      make: get("/external/analytics/v1/live-streams.csv?from=2026-03-01T00:00:00Z&until=2026-12-31T00:00:00Z"),
    },
    {
      name: "what a page reports",
      make: (n) =>
        send(
          "/collect/v1",
          "text/plain",
          JSON.stringify({
            key,
            show: lsId,
            events: [{ id: `page-${n}`, type: "VIEW", channel: "LIVE", viewerId: "v", seconds: 1 }],
          }),
        )(),
    },
    { name: "the description of the API", make: get("/openapi.json", { "Accept-Encoding": "br" }) },
    { name: "the dashboard", make: get("/dashboard") },
    { name: "the documentation", make: get("/docs") },
    { name: "metrics", make: get("/metrics") },
  ];
}

type Headers = Readonly<Record<string, string>>;

function requestOf(method: string, path: string, headers: Headers, sent: Buffer = Buffer.alloc(0)): WholeRequest {
  const isChunked = headers["Transfer-Encoding"] !== undefined;
  const body = isChunked ? chunked(sent) : sent;
  const length = method === "GET" || isChunked ? {} : { "Content-Length": String(body.length) };
  const lines = Object.entries({ Host: "x", ...headers, ...length, Connection: "close" });
  const head = `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  return { head, body };
}

function chunked(bytes: Buffer): Buffer {
  const pieces: (Buffer | string)[] = [];
  for (let at = 0; at < bytes.length; at += 10_000) {
    const piece = bytes.subarray(at, at + 10_000);
    pieces.push(`${piece.length.toString(16)}\r\n`, piece, "\r\n");
  }
  return Buffer.concat([...pieces, "0\r\n\r\n"].map((piece) => Buffer.from(piece)));
}
