import { request } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { preferredCoding } from "../../../src/server/content/compress.js";
import { createTestStore, openTestApp, startApp } from "../../support/app.js";
import { receive, textOf, variesBy, type WireAnswer } from "../../support/http/bytes.js";
import { readPage } from "../../support/browser/pages.js";
import { documented, paths, product, products } from "../../support/products.js";
import { saved } from "../../support/shows.js";

const origin = "https://shop.example";
/** What a browser sends. */
const browser = "gzip, deflate, br, zstd";

const app = await openTestApp({ corsOrigins: [origin] });
const store = await createTestStore(app);
beforeAll(async () => {
  await store.post(paths.bulk, { products: products(60, (index) => ({ description: `Größe ${index}: `.repeat(20) })) });
});

const listAll = "{ products(first: 60) { nodes { id sku title description } } }";
const json = { "content-type": "application/json" };

function post(query: string, headers: Record<string, string> = {}): Promise<WireAnswer> {
  return receive(app.url, "/graphql", {
    method: "POST",
    headers: { "X-Service-Access-Token": store.token, ...json, ...headers },
    body: JSON.stringify({ query }),
  });
}

/** The same in every coding, whole, and with the length that it says. */
function expectWhole(answer: WireAnswer, coding: string | undefined, text: string): void {
  expect(answer.headers["content-encoding"]).toBe(coding);
  expect(answer.headers["content-length"]).toBe(String(answer.bytes.length));
  expect(textOf(answer)).toBe(text);
  if (coding !== undefined) expect(answer.bytes.length).toBeLessThan(text.length / 2);
}

test.each([
  [undefined, undefined],
  ["", undefined],
  ["br", "br"],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["GZIP", "gzip"],
  [browser, "br"],
  ["*", "br"],
  ["gzip;q=1.0, br;q=0.5", "gzip"],
  ["gzip;q=0.5,br;q=0.50", "br"],
  ["br;q=0, gzip;q=0.1", "gzip"],
  ["br;q=0, *;q=0.3", "gzip"],
  ["gzip;q=0, br ; q=0", undefined],
  ["*;q=0", undefined],
  ["deflate, zstd", undefined],
  ["identity", undefined],
  ["identity, gzip;q=0.5", undefined],
  ["identity;q=0.5, gzip", "gzip"],
  ["identity;q=0", undefined],
  ["identity;q=0, gzip;q=0.2", "gzip"],
  ["identity;q=0, *", "br"],
  ["br;q=much, gzip;q=0.1", "gzip"],
  [", ;, gzip;;", "gzip"],
])("the content coding of Accept-Encoding %j is %j", (accepted, coding) => {
  expect(preferredCoding(accepted)).toBe(coding);
});

describe("large responses are compressed:", () => {
  test.each([
    [
      "a document that is compressed once",
      (headers: Record<string, string>) => receive(app.url, "/openapi.json", { headers }),
    ],
    ["an answer that is compressed each time", (headers: Record<string, string>) => post(listAll, headers)],
  ])("%s, as Accept-Encoding says, by which it varies also where it is not", async (_, ask) => {
    const plain = (await ask({})).bytes.toString();
    for (const coding of [undefined, "gzip", "br"]) {
      const answer = await ask(coding === undefined ? {} : { "Accept-Encoding": coding });
      expectWhole(answer, coding, plain);
      expect(variesBy(answer)).toEqual(["accept-encoding"]);
    }
  });

  test("pages, their files and the OpenAPI document, with the same bytes each time and by HEAD as by GET", async () => {
    const loaded = await Promise.all(["/graphql", "/docs"].map((path) => readPage(app, path)));
    for (const path of ["/graphql", "/openapi.json", ...loaded.flatMap(({ files }) => files)]) {
      const headers = { accept: "text/html", "Accept-Encoding": browser };
      const [first, again, plain] = [
        await receive(app.url, path, { headers }),
        await receive(app.url, path, { headers }),
        await receive(app.url, path, { headers: { accept: "text/html" } }),
      ];
      expectWhole(first, "br", plain.bytes.toString());
      expect(again.bytes.equals(first.bytes)).toBe(true);
      expect(first.headers.etag).toBe(plain.headers.etag);
      const head = await receive(app.url, path, { method: "HEAD", headers });
      expect(head.bytes).toHaveLength(0);
      for (const name of ["content-encoding", "content-length", "content-type", "etag", "vary"]) {
        expect([name, head.headers[name]]).toEqual([name, first.headers[name]]);
      }
      const condition = { ...headers, "If-None-Match": first.headers.etag ?? "" };
      const known = await receive(app.url, path, { headers: condition });
      expect(known).toMatchObject({ status: 304, headers: { vary: first.headers.vary } });
      expect(known.headers).not.toHaveProperty("content-encoding");
    }
  });

  test("each one of many that are first requested at once is complete", async () => {
    const fresh = await startApp();
    const headers = { accept: "text/html", "Accept-Encoding": browser };
    const [file = ""] = (await readPage(app, "/graphql")).files;
    const answers = await Promise.all(Array.from({ length: 5 }, () => receive(fresh.url, file, { headers })));
    expect(new Set(answers.map(textOf)).size).toBe(1);
    await fresh.close();
  });

  test("a REST read, with the entity tag of the plain response, by HEAD too, and with Vary of CORS", async () => {
    const url = `https://shop.example/${"ä".repeat(2_000)}`;
    const large = product("large", { url, featured_image: url, title: "T".repeat(1_000) });
    expect(await store.post(paths.one, { product: large })).toMatchObject({ status: 200 });
    const read = (headers: Record<string, string>, method = "GET") =>
      receive(app.url, paths.of("large"), { method, headers: { "X-Service-Access-Token": store.token, ...headers } });
    const plain = await read({});
    expect(JSON.parse(plain.bytes.toString())).toEqual(documented(large));
    const packed = await read({ "Accept-Encoding": "gzip", origin });
    expectWhole(packed, "gzip", plain.bytes.toString());
    expect(packed.headers.etag).toBe(plain.headers.etag);
    expect(variesBy(plain)).toEqual(["accept-encoding", "x-service-access-token"]);
    expect(variesBy(packed)).toEqual(["accept-encoding", "origin", "x-service-access-token"]);
    const head = await read({ "Accept-Encoding": "gzip" }, "HEAD");
    expect(head).toMatchObject({ status: 200, headers: { "content-encoding": "gzip", etag: plain.headers.etag } });
    expect(head.bytes).toHaveLength(0);
    const known = await read({ "Accept-Encoding": "gzip", "If-None-Match": plain.headers.etag ?? "" });
    expect(known.status).toBe(304);
    expect(variesBy(known)).toEqual(["accept-encoding", "x-service-access-token"]);
  });

  test("problem details", async () => {
    const body = JSON.stringify({ products: products(60, () => ({ available: "yes" })) });
    const headers = { "X-Service-Access-Token": store.token, ...json, "Accept-Encoding": browser };
    const answer = await receive(app.url, paths.bulk, { method: "POST", headers, body });
    expect(answer).toMatchObject({
      status: 400,
      headers: { "content-encoding": "br", "content-type": "application/problem+json" },
    });
    expect(JSON.parse(textOf(answer))).toMatchObject({ code: "VALIDATION_FAILED", errorsTotal: 60 });
  });

  test.each(["application/json", "application/graphql-response+json"])(
    "GraphQL as %s, by POST and GET",
    async (type) => {
      const headers = { "Accept-Encoding": browser, accept: type, origin };
      const posted = await post(listAll, headers);
      expect(posted).toMatchObject({ status: 200, headers: { "content-type": expect.stringContaining(type) } });
      expect(JSON.parse(textOf(posted)).data.products.nodes).toHaveLength(60);
      expect(variesBy(posted)).toEqual(["accept-encoding", "origin"]);
      expect(posted.headers["x-request-id"]).toBeDefined();
      const got = await receive(app.url, `/graphql?query=${encodeURIComponent(listAll)}`, {
        headers: { "X-Service-Access-Token": store.token, ...headers },
      });
      expectWhole(got, "br", textOf(posted));
      expect(variesBy(got)).toEqual(["accept", "accept-encoding", "origin", "x-service-access-token"]);
    },
  );

  test("GraphQL errors, with their status", async () => {
    const answer = await post(
      `{ ${"nothing ".repeat(200)}${Array.from({ length: 60 }, (_, i) => `n${i}`).join(" ")} }`,
      {
        "Accept-Encoding": "gzip",
        accept: "application/graphql-response+json",
      },
    );
    expect(answer).toMatchObject({ status: 400, headers: { "content-encoding": "gzip" } });
    expect(JSON.parse(textOf(answer)).errors.length).toBeGreaterThan(20);
  });
});

describe("the following are never compressed:", () => {
  test("small responses, which do not vary by Accept-Encoding either", async () => {
    await store.post(paths.one, { product: product("small") });
    const headers = { "X-Service-Access-Token": store.token, "Accept-Encoding": browser };
    for (const path of ["/healthz", "/readyz", paths.of("small"), paths.of("none"), "/nowhere"]) {
      const answer = await receive(app.url, path, { headers });
      expect([path, answer.headers["content-encoding"]]).toEqual([path, undefined]);
      expect([path, answer.headers["content-length"]]).toEqual([path, String(answer.bytes.length)]);
      expect(variesBy(answer)).not.toContain("accept-encoding");
    }
    const answer = await post(
      `
        {
          product(productId: "small") {
            id
          }
        }
      `,
      { "Accept-Encoding": browser },
    );
    expectWhole(answer, undefined, `{"data":{"product":{"id":"small"}}}`);
    expect(answer.headers).not.toHaveProperty("vary");
  });

  test("streams of subscriptions, however large their events", async () => {
    const show = await saved(store, { name: "Long ".repeat(50) });
    const fields = Array.from({ length: 60 }, (_, index) => `name${index}: name`).join(" ");
    const body = JSON.stringify({ query: `subscription { liveStreamAnalytics(lsId: "${show.id}") { ${fields} } }` });
    const headers = { "X-Service-Access-Token": store.token, ...json, accept: "text/event-stream" };
    const text = await new Promise<string>((resolve, reject) => {
      const outgoing = request(`${app.url}/graphql`, {
        method: "POST",
        headers: { ...headers, "Accept-Encoding": browser },
      });
      outgoing.once("error", reject).once("response", (incoming) => {
        expect(incoming.headers["content-type"]).toContain("text/event-stream");
        expect(["br", "gzip"]).not.toContain(incoming.headers["content-encoding"]);
        let received = "";
        incoming.setEncoding("utf8").on("data", (chunk: string) => {
          received += chunk;
          if (/data: .*\n\n/u.test(received)) {
            resolve(received);
            outgoing.destroy();
          }
        });
        incoming.once("error", () => undefined);
      });
      outgoing.end(body);
    });
    const [, data = ""] = /data: (.*)\n\n/u.exec(text) ?? [];
    expect(Object.keys(JSON.parse(data).data.liveStreamAnalytics)).toHaveLength(60);
  });
});

describe("a client that", () => {
  test("leaves before its response is compressed causes no error", async () => {
    const headers = { "X-Service-Access-Token": store.token, ...json, "Accept-Encoding": browser };
    for (const path of ["/graphql", "/openapi.json", paths.bulk]) {
      for (let turns = 0; turns < 24; turns += 2) {
        const outgoing = request(`${app.url}${path}`, { method: path === "/openapi.json" ? "GET" : "POST", headers });
        const over = new Promise((resolve) => {
          outgoing.once("close", resolve).on("error", () => undefined);
        });
        outgoing.end(
          path === "/graphql"
            ? JSON.stringify({ query: listAll })
            : JSON.stringify({ products: products(60, () => ({ url: 1 })) }),
        );
        for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        outgoing.destroy();
        await over;
      }
    }
    expectWhole(await post(listAll, { "Accept-Encoding": "br" }), "br", textOf(await post(listAll)));
    expect(app.logged).toEqual([]);
  });

  test("still sends an unwanted body gets the whole compressed response", async () => {
    const headers = { accept: "text/html", "Accept-Encoding": browser };
    const page = textOf(await receive(app.url, "/graphql", { headers }));
    const waiting = { headers: { ...headers, "content-length": "10" }, unfinished: true };
    const sending = { headers: { ...headers, "content-length": "8000000" }, body: "x".repeat(8_000_000) };
    for (const sent of [waiting, sending]) {
      const answer = await receive(app.url, "/graphql", sent);
      expect(answer.headers.connection).toBe("close");
      expectWhole(answer, "br", page);
    }
  });
});
