import { describe, expect, test } from "vitest";
import { paths } from "../../support/products.js";
import { answerTo, converse, onlyAnswer, openRawApp } from "../../support/http/socket.js";
import { until } from "../../support/until.js";

const { app, store, request, ask } = await openRawApp();
const alive = { status: 200, body: { status: "ok" } };

describe("unusual, but valid HTTP:", () => {
  test("HTTP/1.0, without a Host, is served and the connection closed", async () => {
    expect(onlyAnswer(await answerTo(app.url, "GET /healthz HTTP/1.0\r\n\r\n"))).toMatchObject({
      ...alive,
      headers: { connection: "close" },
    });
  });

  test("a URL in absolute form is taken for one of this server, whatever its host", async () => {
    const token = `X-Service-Access-Token: ${store.token}`;
    for (const origin of [app.url, "http://shop.example", "HTTPS://shop.example:8443"]) {
      expect(await ask(`GET ${origin}/healthz?x=1 HTTP/1.1`, "Host: x")).toMatchObject(alive);
      expect(await ask(`GET ${origin}/graphql?query={__typename} HTTP/1.1`, "Host: x", token)).toMatchObject({
        status: 200,
        body: { data: { __typename: "Query" } },
      });
      expect(await ask(`POST ${origin} HTTP/1.1`, "Host: x")).toMatchObject({ status: 405 });
      expect(await ask(`GET ${origin}?/healthz HTTP/1.1`, "Host: x", "If-None-Match: *")).toMatchObject({
        status: 304,
      });
    }
  });

  test("OPTIONS * lists the methods of the server; other methods of * are not found", async () => {
    expect(await ask("OPTIONS * HTTP/1.1", "Host: x")).toMatchObject({
      status: 204,
      headers: { allow: "GET, HEAD, POST, PUT, DELETE, OPTIONS" },
    });
    expect(await ask("GET * HTTP/1.1", "Host: x")).toMatchObject({ status: 404 });
  });

  test("TRACE and CONNECT are 405; TRACE repeats nothing of the request", async () => {
    const token = `X-Service-Access-Token: ${store.token}`;
    for (const path of ["/", "/healthz", "/graphql", paths.one, paths.of("a")]) {
      const answer = await ask(`TRACE ${path} HTTP/1.1`, "Host: x", token, "X-Canary: sing");
      expect({ path, status: answer.status }).toEqual({ path, status: 405 });
      expect(answer.headers["allow"]).toMatch(/GET|POST/u);
      expect(JSON.stringify(answer)).not.toMatch(/canary|sing"|vt_/iu);
    }
    expect(await ask("CONNECT shop.example:443 HTTP/1.1", "Host: shop.example:443")).toMatchObject({
      status: 405,
      headers: { allow: "GET, HEAD, POST, PUT, DELETE, OPTIONS", connection: "close" },
      body: { code: "METHOD_NOT_ALLOWED" },
    });
  });

  test("an Upgrade header is ignored", async () => {
    const upgrade = ["Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"];
    expect(await ask("GET /healthz HTTP/1.1", "Host: x", ...upgrade)).toMatchObject(alive);
  });

  test("a GET with a body is answered", async () => {
    const sent = `${request("GET /healthz HTTP/1.1", "Host: x", "Content-Length: 5")}hello`;
    expect(onlyAnswer(await answerTo(app.url, sent))).toMatchObject(alive);
  });
});

describe("Expect", () => {
  const body = JSON.stringify({ products: [] });
  const head = (token: string, length: number, ...more: string[]) => {
    const lines = ["Host: x", "Content-Type: application/json", `X-Service-Access-Token: ${token}`, ...more];
    return request(`POST ${paths.bulk} HTTP/1.1`, ...lines, `Content-Length: ${length}`);
  };

  test("100-continue: the body is requested when it is needed", async () => {
    const conversation = converse(app.url, head(store.token, body.length, "Expect: 100-continue"));
    await until(() => conversation.received() === "HTTP/1.1 100 Continue\r\n\r\n", "the server to ask for the body");
    conversation.socket.write(body);
    await conversation.closed();
    expect(onlyAnswer(conversation.received().replace(/^.*\r\n\r\n/u, ""))).toMatchObject({ status: 200 });
  });

  test("100-continue: the body is never requested if the headers alone lead to a refusal", async () => {
    for (const [sent, status] of [
      [head("wrong", 10, "Expect: 100-continue"), 401],
      [head(store.token, 999_999_999, "Expect: 100-continue"), 413],
      [head(store.token, 10, "Expect: 100-continue", "Content-Encoding: rot13"), 415],
    ] as const) {
      const conversation = converse(app.url, sent);
      await until(() => conversation.received().endsWith("}"), "an answer");
      expect(onlyAnswer(conversation.received())).toMatchObject({ status, headers: { connection: "close" } });
      conversation.socket.destroy();
    }
  });

  test("anything else is ignored", async () => {
    const sent = head(store.token, body.length, "Expect: a-miracle") + body;
    expect(onlyAnswer(await answerTo(app.url, sent))).toMatchObject({ status: 200 });
  });
});
