import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../../support/app.js";
import { graphqlError } from "../../support/problems.js";
import { paths, product } from "../../support/products.js";
import { saved } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });
const store = await createTestStore(app);
const { id } = await saved(store, { status: "LIVE" });

const json = "application/json; charset=utf-8";
const graphqlJson = "application/graphql-response+json; charset=utf-8";
const none = "none";

/** Accept, the type of a query's answer, and that of a subscription's. */
const cases: readonly (readonly [string | undefined, string, string])[] = [
  [undefined, json, "text/event-stream"],
  ["", json, "text/event-stream"],
  ["*/*", json, "text/event-stream"],
  ["application/*", json, none],
  ["APPLICATION/JSON", json, none],
  [" application/graphql-response+json ; charset=UTF-8 , application/json ; q=0.9", graphqlJson, none],
  ["application/json;q=0.1, application/graphql-response+json;q=0.2", graphqlJson, none],
  ["application/graphql-response+json;q=0.5,application/json", json, none],
  ["application/json;q=0, */*", graphqlJson, "text/event-stream"],
  ["*/*;q=0.1, application/json;q=0, text/event-stream;q=0", graphqlJson, none],
  ["application/graphql-response+json;q=0, application/*", json, none],
  ["*/*, application/*;q=0", "text/event-stream", "text/event-stream"],
  ["*/*, application/*;q=0, text/*;q=0, multipart/*;q=0", none, none],
  ['application/json;profile="a,b;charset=latin1"', none, none],
  ["application/json;charset=latin1", none, none],
  ["application/json;charset=latin1, application/graphql-response+json", graphqlJson, none],
  ["text/event-stream", "text/event-stream", "text/event-stream"],
  ["Text/Event-Stream; q=1.0", "text/event-stream", "text/event-stream"],
  ["text/event-stream;q=0", none, none],
  ["text/*", "text/event-stream", "text/event-stream"],
  ["text/event-stream, application/json", json, "text/event-stream"],
  [
    "application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed",
    graphqlJson,
    "text/event-stream",
  ],
  ["multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json", json, "multipart/mixed"],
  ['MULTIPART/Mixed; SubscriptionSpec="1.0" , application/json', json, "multipart/mixed"],
  ["multipart/mixed;subscriptionSpec=1.0;q=0, application/json", json, none],
  ["multipart/mixed;subscriptionSpec=1.0;q=0.5, text/event-stream", "text/event-stream", "text/event-stream"],
  ["multipart/mixed", 'multipart/mixed; boundary="-"', none],
  ["multipart/mixed;subscriptionSpec=2.0", none, none],
  ["multipart/mixed;deferSpec=20220824,application/json", json, none],
  ["image/*, text/plain;q=0.5", none, none],
  [`${"a/b,".repeat(1_000)}*/*`, none, none],
];

/** The media type of the answer, or none for 406. */
async function typeOf(body: object, accept: string | undefined, method: string): Promise<string> {
  const search = new URLSearchParams(
    Object.entries(body).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      "x-service-access-token": store.token,
      ...(accept !== undefined && { accept }),
    };
    const sent = request(
      `${app.url}/graphql${method === "GET" ? `?${search}` : ""}`,
      { method, headers },
      (response) => {
        const { statusCode, headers: answered } = response;
        response.destroy();
        resolve(statusCode === 406 ? none : (answered["content-type"] ?? ""));
      },
    );
    sent.on("error", reject);
    sent.end(method === "POST" ? JSON.stringify(body) : undefined);
  });
}

describe("the media type of an answer follows Accept by RFC 9110, by each method and at each use,", () => {
  test.each(cases)("for %s", async (accept, ofQuery, ofSubscription) => {
    const name = `A${crypto.randomUUID().replaceAll("-", "")}`;
    const query = { query: `query ${name} { store { id } }` };
    for (const method of ["POST", "POST", "GET"]) {
      expect([method, await typeOf(query, accept, method)]).toEqual([method, ofQuery]);
    }
    const subscription = { query: `subscription ${name} { liveStreamAnalytics(lsId: "${id}") { name } }` };
    for (const method of ["POST", "POST", "GET"]) {
      const type = await typeOf(subscription, accept, method);
      expect([method, type.split(";")[0]]).toEqual([method, ofSubscription]);
    }
  });
});

describe("Content-Type is compared without case, blanks and the order of parameters, at each use:", () => {
  test.each([
    "Application/JSON",
    "APPLICATION/JSON; CHARSET=UTF-8",
    "application/json ; charset=utf-8",
    'application/json;profile=x;charset="Utf-8"',
    "application/json; charset=utf-8; profile=x",
  ])("%s", async (type) => {
    const headers = { "content-type": type };
    const query = `query A${crypto.randomUUID().replaceAll("-", "")} { store { id } }`;
    for (let use = 0; use < 4; use += 1) {
      const response = await store.fetch("/graphql", { method: "POST", headers, body: JSON.stringify({ query }) });
      expect([use, response.status]).toEqual([use, 200]);
    }
    const body = JSON.stringify({ csvContent: "id,sku,title,available,featured_image,url" });
    expect((await store.fetch(paths.csv, { method: "POST", headers, body })).status).toBe(200);
  });

  test("a file's, too", async () => {
    for (const type of ["Text/CSV;header=present;charset=UTF-8", "text/csv ; charset=utf-8 ; header=present"]) {
      const options = {
        method: "POST",
        headers: { "content-type": type },
        body: "id,sku,title,available,featured_image,url",
      };
      expect((await store.fetch(paths.csv, options)).status).toBe(200);
    }
  });
});

describe("Accept that excludes the type of a documented path's answer is refused, before anything is executed:", () => {
  test.each([
    "*/*, application/*;q=0",
    "application/json;q=0",
    "*/*;q=0",
    "text/html, application/*; q=0.000",
    "a/b;q=0, */*;q=0",
  ])("%s", async (accept) => {
    const refused = async (path: string, options: RequestInit = {}) => {
      const response = await store.fetch(path, { ...options, headers: { accept, "content-type": "application/json" } });
      return [response.status, (await response.json()).code];
    };
    const notAcceptable = [406, "NOT_ACCEPTABLE"];
    expect(await refused("/external/store/v1")).toEqual(notAcceptable);
    const body = JSON.stringify({ product: product("not-stored") });
    expect(await refused(paths.one, { method: "POST", body })).toEqual(notAcceptable);
    expect((await store.get(paths.of("not-stored"))).status).toBe(400);
  });

  test.each([
    "text/html",
    "application/*;q=0, application/json",
    "application/*;q=0.1",
    "image/*;q=0",
    "text/csv;q=0, */*",
  ])("but not %s", async (accept) => {
    expect((await store.fetch("/external/store/v1", { headers: { accept } })).status).toBe(200);
  });

  test("an export has a type of its own", async () => {
    const statusFor = async (accept: string) => (await store.fetch(paths.csv, { headers: { accept } })).status;
    expect([await statusFor("text/*;q=0, */*"), await statusFor("application/*;q=0, */*")]).toEqual([406, 200]);
  });
});

test("a page is answered where it is preferred to a result", async () => {
  const typeFor = async (accept: string) =>
    (await store.fetch("/graphql?query={__typename}", { headers: { accept } })).headers.get("content-type");
  expect(await typeFor("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")).toMatch(/^text\/html/u);
  expect(await typeFor("TEXT/HTML")).toMatch(/^text\/html/u);
  expect(await typeFor("application/json, text/html;q=0.5")).toBe(json);
  expect(await typeFor("*/*, text/html;q=0")).toBe(json);
});

describe("a WebSocket handshake", () => {
  test.each(["websocket", "WebSocket"])("is refused with what is supported: Upgrade: %s", async (upgrade) => {
    const answer = await new Promise<{ status: number; headers: object; text: string }>((resolve, reject) => {
      const headers = {
        connection: "Upgrade",
        upgrade,
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-protocol": "graphql-transport-ws",
      };
      const sent = request(`${app.url}/graphql`, { headers }, (response) => {
        let text = "";
        response.on("data", (piece) => (text += piece));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      });
      sent.on("error", reject).end();
    });
    expect(answer).toMatchObject({ status: 426, headers: { upgrade: "HTTP/1.1" } });
    expect(JSON.parse(answer.text)).toEqual({
      errors: [graphqlError("UPGRADE_REQUIRED", expect.stringMatching(/text\/event-stream.+multipart\/mixed/u))],
    });
  });
});

test("/graphql/ redirects, also with a body", async () => {
  const read = await store.fetch("/graphql/?query={__typename}", { redirect: "manual" });
  expect([read.status, read.headers.get("location")]).toEqual([308, "../graphql?query={__typename}"]);
  const options = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"query":"{ __typename }"}',
  };
  const posted = await store.fetch("/graphql/", options);
  expect([posted.status, await posted.json()]).toEqual([200, { data: { __typename: "Query" } }]);
});
