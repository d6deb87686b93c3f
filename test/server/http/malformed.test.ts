import { describe, expect, test } from "vitest";
import { createTestStore } from "../../support/app.js";
import { graphqlError, problemBody } from "../../support/problems.js";
import { paths, product, storedProducts } from "../../support/products.js";
import { answerTo, converse, onlyAnswer, openRawApp } from "../../support/http/socket.js";
import { until } from "../../support/until.js";

const { app, store, request, ask } = await openRawApp();
const alive = { status: 200, body: { status: "ok" } };

/** A refusal that closes the connection. */
const refusal = (code: string, detail: string) => {
  const body = problemBody(code, detail);
  return {
    status: body.status,
    headers: { "content-type": "application/problem+json", connection: "close", "x-content-type-options": "nosniff" },
    body,
  };
};
const notHttp = refusal("BAD_REQUEST", "This is not a valid HTTP/1.1 request.");

describe("anything but an HTTP/1.1 request is a bad request, and the connection is closed", () => {
  const post = "POST /graphql HTTP/1.1\r\nHost: x\r\n";
  test.each([
    ["garbage", "GARBAGE\r\n\r\n"],
    ["a TLS greeting", Buffer.from("16030100a5010000a10303", "hex")],
    ["HTTP/2 with prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["an unknown method", "FOO / HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a path without its slash", "GET healthz HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["HTTP/1.2", "GET / HTTP/1.2\r\nHost: x\r\n\r\n"],
    ["bytes above ASCII in the path", "GET /\xe9 HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["line feeds alone", "GET / HTTP/1.1\nHost: x\n\n"],
    ["a header folded over two lines", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n"],
    ["a space before a colon", "GET / HTTP/1.1\r\nHost : x\r\n\r\n"],
    ["NUL in a header", "GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n"],
    [
      "content-length and transfer-encoding",
      `${post}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG`,
    ],
    ["the same the other way round", `${post}Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\nG`],
    ["two lengths", `${post}Content-Length: 6\r\nContent-Length: 5\r\n\r\nhello!`],
    ["a length with a sign", `${post}Content-Length: +5\r\n\r\nhello`],
    ["a length of 20 digits", `${post}Content-Length: 99999999999999999999\r\n\r\nhello`],
    ["chunked that is taken back", `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`],
  ])("%s", async (_, sent) => {
    expect(onlyAnswer(await answerTo(app.url, sent))).toMatchObject(notHttp);
  });
});

describe("a request that could be read as more than one is refused", () => {
  const post = "POST /external/product/v1 HTTP/1.1";
  test.each<[lines: string[], detail: string, body?: string]>([
    [["GET /healthz HTTP/1.1"], "The request must have exactly one Host header."],
    [["GET /healthz HTTP/1.1", "Host: x", "host: y"], "The request must have exactly one Host header."],
    [["GET /healthz HTTP/2.0", "Host: x"], "The request must use HTTP/1.1."],
    [["GET /healthz HTTP/0.9", "Host: x"], "The request must use HTTP/1.1."],
    [
      [post, "Host: x", "Transfer-Encoding: gzip, chunked"],
      "The only accepted transfer-encoding is chunked.",
      "0\r\n\r\n",
    ],
    [[post, "Host: x", "Transfer-Encoding: gzip"], "The only accepted transfer-encoding is chunked."],
    [[post, "Host: x", "Transfer-Encoding: xchunked"], "The only accepted transfer-encoding is chunked."],
  ])("%j", async (lines, detail, body = "") => {
    expect(onlyAnswer(await answerTo(app.url, request(...lines) + body))).toMatchObject(refusal("BAD_REQUEST", detail));
  });

  test("a second request inside a body is never executed", async () => {
    const inner = `DELETE ${paths.of("kept")} HTTP/1.1\r\nHost: x\r\nX-Service-Access-Token: ${store.token}\r\n\r\n`;
    await store.post(paths.one, { product: product("kept") });
    for (const framing of [
      "Content-Length: 0\r\nTransfer-Encoding: chunked",
      "Transfer-Encoding: chunked\r\nContent-Length: 4",
      "Transfer-Encoding: chunked, identity",
      "Transfer-Encoding:\vchunked",
    ]) {
      const sent = `POST /external/product/v1 HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n0\r\n\r\n${inner}`;
      expect(onlyAnswer(await answerTo(app.url, sent)).status).toBe(400);
    }
    expect(await storedProducts(app, store)).toHaveLength(1);
  });
});

describe("too large", () => {
  const long = (length: number) => `/healthz?${"a".repeat(length - "/healthz?".length)}`;
  const detail = "Path and query string may have at most 8192 characters.";

  test("is a path and query of more than 8 KB: 414, in the form of REST or GraphQL", async () => {
    expect(await ask(`GET ${long(8_192)} HTTP/1.1`, "Host: x")).toMatchObject(alive);
    expect(await ask(`GET ${long(8_193)} HTTP/1.1`, "Host: x")).toMatchObject(refusal("URI_TOO_LONG", detail));
    const query = `/graphql?query={__typename}&x=${"a".repeat(9_000)}`;
    expect(await ask(`GET ${query} HTTP/1.1`, "Host: x", `X-Service-Access-Token: ${store.token}`)).toMatchObject({
      status: 414,
      body: { errors: [graphqlError("URI_TOO_LONG", detail)] },
    });
  });

  test("are headers of more than 32 KB, in one header or in many: 431", async () => {
    const refused = refusal("HEADERS_TOO_LARGE", "The headers of the request are too large.");
    for (const headers of [
      `A: ${"a".repeat(40_000)}`,
      Array.from({ length: 1_000 }, (_, index) => `a${index}: ${"b".repeat(40)}`).join("\r\n"),
    ]) {
      const answer = await answerTo(app.url, `GET /healthz HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`);
      expect(onlyAnswer(answer)).toMatchObject(refused);
    }
    const within = `A: ${"a".repeat(20_000)}`;
    expect(await ask("GET /healthz HTTP/1.1", "Host: x", within)).toMatchObject(alive);
  });
});

describe("in the middle of a connection", () => {
  test("an invalid chunk ends the request with a 400, and nothing is stored", async () => {
    const other = await createTestStore(app);
    const body = JSON.stringify({ product: product("a") });
    const head = `POST ${paths.one} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Service-Access-Token: ${other.token}\r\n`;
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
    const sent = `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}ZZ\r\n`;
    expect(onlyAnswer(await answerTo(app.url, sent))).toMatchObject(notHttp);
    expect(await storedProducts(app, other)).toEqual([]);
  });

  test("garbage after a request is not answered before it", async () => {
    const first = "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n";
    const received = await answerTo(app.url, `${first}GARBAGE\r\n\r\n`);
    expect(received).not.toContain("HTTP/1.1 400");
    const conversation = converse(app.url, first);
    await until(() => conversation.received().includes('"ready"'), "the first answer");
    conversation.socket.write("GARBAGE\r\n\r\n");
    await conversation.closed();
    expect(conversation.received()).toMatch(
      /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n\{[^}]*\}HTTP\/1\.1 400 Bad Request\r\n/u,
    );
  });

  test("pipelined requests are answered in their order", async () => {
    const asked = ["/healthz", "/readyz", paths.of("none"), "/nowhere", "/healthz"];
    const headers = `Host: x\r\nX-Service-Access-Token: ${store.token}`;
    const sent = asked.map((path) => `GET ${path} HTTP/1.1\r\n${headers}\r\n\r\n`).join("");
    const received = await answerTo(app.url, sent + request("GET / HTTP/1.1", "Host: x"));
    expect([...received.matchAll(/HTTP\/1\.1 (\d{3})/gu)].map(([, status]) => status)).toEqual(
      "200 200 400 404 200 200".split(" "),
    );
    expect(received.trimEnd()).toMatch(/<\/html>$/u);
  });
});
