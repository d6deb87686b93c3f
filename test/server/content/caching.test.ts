import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp, startApp } from "../../support/app.js";
import { receive, variesBy } from "../../support/http/bytes.js";
import { documented, paths, product } from "../../support/products.js";
import { analyticsPath, recorded, saved } from "../../support/shows.js";

const tokenHeader = "X-Service-Access-Token";
const weakTag = /^W\/"[\w-]{16,32}"$/u;
const origin = "https://shop.example";

const app = await openTestApp({ corsOrigins: [origin] });
const store = await createTestStore(app);

const mug = product("mug");

/** Reads a path with a store's token. */
function read(path: string, headers: Record<string, string> = {}, { token } = store, method = "GET") {
  return receive(app.url, path, { method, headers: { [tokenHeader]: token, ...headers } });
}

/** Stores the product and gives the tag of its answer. */
async function taggedMug(): Promise<string> {
  await store.post(paths.one, { product: mug });
  const { headers } = await read(paths.of("mug"));
  expect(headers.etag).toMatch(weakTag);
  return String(headers.etag);
}

describe("a read of a product", () => {
  test("has a weak entity tag and may be cached by its caller alone, who revalidates each time", async () => {
    await taggedMug();
    const answer = await read(paths.of("mug"));
    expect(answer.status).toBe(200);
    expect(answer.headers.etag).toMatch(weakTag);
    expect(answer.headers["cache-control"]).toBe("private, no-cache");
    expect(variesBy(answer)).toEqual(["x-service-access-token"]);
    expect(JSON.parse(answer.bytes.toString())).toEqual(documented(mug));
  });

  test("is 304 without a body if the tag matches, with the headers of the 200", async () => {
    const etag = await taggedMug();
    const answer = await read(paths.of("mug"), { "If-None-Match": etag, "X-Request-Id": "r-1" });
    expect(answer.status).toBe(304);
    expect(answer.bytes).toHaveLength(0);
    expect(answer.headers).toMatchObject({
      etag,
      "cache-control": "private, no-cache",
      vary: tokenHeader,
      "x-request-id": "r-1",
      date: expect.any(String),
    });
    expect(answer.headers).not.toHaveProperty("content-type");
    expect(answer.headers).not.toHaveProperty("content-length");
  });

  test.each([
    ["a list that holds the tag", (tag: string) => `"other", ${tag} ,W/"third"`],
    ["a list without spaces", (tag: string) => `"a,b",${tag}`],
    ["the tag as a strong one", (tag: string) => tag.slice(2)],
    ["a star", () => "*"],
  ])("matches %s", async (_, condition) => {
    const etag = await taggedMug();
    expect(await read(paths.of("mug"), { "If-None-Match": condition(etag) })).toMatchObject({ status: 304 });
  });

  test.each([
    ["other tags", () => 'W/"other", "*"'],
    ["part of the tag", (tag: string) => `${tag.slice(0, -2)}"`],
    ["the tag without its quotes", (tag: string) => tag.slice(3, -1)],
    ["nothing", () => ""],
  ])("does not match %s", async (_, condition) => {
    const etag = await taggedMug();
    const answer = await read(paths.of("mug"), { "If-None-Match": condition(etag) });
    expect(answer).toMatchObject({ status: 200, headers: { etag } });
    expect(JSON.parse(answer.bytes.toString())).toEqual(documented(mug));
  });

  test("has another tag once the product has changed, and the first one again when it is changed back", async () => {
    const etag = await taggedMug();
    await store.post(paths.one, { product: { ...mug, title: "Another" } });
    const changed = await read(paths.of("mug"), { "If-None-Match": etag });
    expect(changed.status).toBe(200);
    expect(changed.headers.etag).not.toBe(etag);
    expect(JSON.parse(changed.bytes.toString())).toMatchObject({ title: "Another" });
    expect(await taggedMug()).toBe(etag);
  });

  test("by HEAD has the headers and the 304 of GET", async () => {
    const etag = await taggedMug();
    const get = await read(paths.of("mug"));
    const head = await read(paths.of("mug"), {}, store, "HEAD");
    expect(head).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
    for (const name of ["etag", "cache-control", "vary", "content-type", "content-length"]) {
      expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
    }
    const known = await read(paths.of("mug"), { "If-None-Match": etag }, store, "HEAD");
    expect(known).toMatchObject({ status: 304, headers: { etag } });
  });

  test("reveals nothing to another store, which gets its own answer whatever tag it sends", async () => {
    const etag = await taggedMug();
    const other = await createTestStore(app);
    const missing = await read(paths.of("mug"), { "If-None-Match": etag }, other);
    expect(missing.status).toBe(400);
    await other.post(paths.one, { product: { ...mug, title: "Theirs" } });
    const theirs = await read(paths.of("mug"), { "If-None-Match": etag }, other);
    expect(theirs.status).toBe(200);
    expect(JSON.parse(theirs.bytes.toString())).toMatchObject({ title: "Theirs" });
    const nobody = await read(paths.of("mug"), { "If-None-Match": etag }, { ...other, token: "vt_wrong" });
    expect(nobody.status).toBe(401);
  });

  test("keeps Vary of CORS, and lets scripts send If-None-Match and read ETag", async () => {
    const etag = await taggedMug();
    for (const condition of [{}, { "If-None-Match": etag }]) {
      const answer = await read(paths.of("mug"), { origin, ...condition });
      expect(variesBy(answer)).toEqual(["origin", "x-service-access-token"]);
      expect(answer.headers["access-control-allow-origin"]).toBe(origin);
      expect(answer.headers["access-control-expose-headers"]).toMatch(/\bETag\b/u);
    }
    const preflight = await receive(app.url, paths.of("mug"), {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "GET" },
    });
    expect(preflight.headers["access-control-allow-headers"]).toMatch(/\bIf-None-Match\b/u);
  });

  test("is 304 too while an unexpected body still arrives", async () => {
    const etag = await taggedMug();
    const headers = { [tokenHeader]: store.token, "If-None-Match": etag, "content-length": "10" };
    const answer = await receive(app.url, paths.of("mug"), { headers, unfinished: true });
    expect(answer).toMatchObject({ status: 304, headers: { etag, connection: "close" } });
  });
});

describe("no entity tag", () => {
  test.each([
    ["a product that is not there", 400, paths.of("none")],
    ["a show that is not there", 404, analyticsPath("none")],
    ["a path that is not there", 404, "/external/nothing"],
  ])("is sent with %s, and `If-None-Match: *` does not make it 304", async (_, status, path) => {
    const answer = await read(path, { "If-None-Match": "*" });
    expect(answer.status).toBe(status);
    expect(answer.headers).not.toHaveProperty("etag");
    expect(answer.headers["cache-control"]).toBe("private, no-cache");
    expect(variesBy(answer)).toEqual(["x-service-access-token"]);
  });

  test("is not sent with writes", async () => {
    const headers = { [tokenHeader]: store.token, "content-type": "application/json" };
    const body = JSON.stringify({ product: product("written") });
    const posted = await receive(app.url, paths.one, { method: "POST", headers, body });
    const deleted = await receive(app.url, paths.of("written"), { method: "DELETE", headers });
    for (const answer of [posted, deleted]) {
      expect(answer.status).toBe(200);
      expect(answer.headers).not.toHaveProperty("etag");
      expect(answer.headers).not.toHaveProperty("cache-control");
    }
  });
});

describe("a read of analytics", () => {
  test("is 304 until an event changes the figures", async () => {
    const { id } = await saved(store);
    const { headers } = await read(analyticsPath(id));
    const condition = { "If-None-Match": headers.etag ?? "" };
    expect(headers.etag).toMatch(weakTag);
    expect(await read(analyticsPath(id), condition)).toMatchObject({ status: 304 });
    await recorded(store, id, [{ id: "e1", type: "ORDER", channel: "LIVE", amount: 5 }]);
    const changed = await read(analyticsPath(id), condition);
    expect(changed.status).toBe(200);
    expect(changed.headers.etag).not.toBe(headers.etag);
  });

  test("counts against the rate limit when it is 304, and has its headers", async () => {
    const limited = await startApp({ analyticsRateLimit: 3 });
    const own = await createTestStore(limited);
    const { id } = await saved(own);
    const ask = (condition: Record<string, string> = {}) =>
      receive(limited.url, analyticsPath(id), { headers: { [tokenHeader]: own.token, ...condition } });
    const first = await ask();
    const condition = { "If-None-Match": first.headers.etag ?? "" };
    const answers = [await ask(condition), await ask(condition), await ask(condition)];
    expect(answers.map(({ status }) => status)).toEqual([304, 304, 429]);
    expect(answers.map(({ headers }) => /r=(\d+)/u.exec(String(headers["ratelimit"]))?.[1])).toEqual(["1", "0", "0"]);
    expect(answers[0]?.headers["ratelimit-policy"]).toBe(first.headers["ratelimit-policy"]);
    expect(answers[2]?.headers).not.toHaveProperty("etag");
    await limited.close();
  });
});

describe("public pages and documents", () => {
  test.each([
    ["/", "text/html", ["accept-encoding"]],
    ["/graphql", "text/html", ["accept", "accept-encoding"]],
    ["/docs", "text/html", []],
    ["/openapi.json", "application/json", ["accept-encoding"]],
  ])("%s is revalidated each time, and is 304 if the tag matches", async (path, type, vary) => {
    const accept = { accept: "text/html,*/*" };
    for (const method of ["GET", "HEAD"]) {
      const full = await receive(app.url, path, { method, headers: accept });
      expect(full.status).toBe(200);
      expect(full.headers["content-type"]).toContain(type);
      expect(full.headers["cache-control"]).toBe("no-cache");
      expect(full.headers.etag).toMatch(weakTag);
      expect(variesBy(full)).toEqual(vary);
      const known = await receive(app.url, path, {
        method,
        headers: { ...accept, "If-None-Match": `"x", ${full.headers.etag}` },
      });
      expect(known).toMatchObject({ status: 304, bytes: Buffer.alloc(0) });
      for (const name of ["etag", "cache-control", "vary"]) expect(known.headers[name]).toBe(full.headers[name]);
      expect(known.headers).not.toHaveProperty("content-type");
    }
  });

  test("probes have no entity tag", async () => {
    for (const path of ["/healthz", "/readyz"]) {
      const answer = await receive(app.url, path, { headers: { "If-None-Match": "*" } });
      expect(answer.status).toBe(200);
      expect(answer.headers).not.toHaveProperty("etag");
    }
  });
});

test("a GraphQL response to GET may be cached by its caller alone, and is not mistaken for the page", async () => {
  const answer = await read("/graphql?query=%7B__typename%7D", { accept: "application/json" });
  expect(answer).toMatchObject({ status: 200, headers: { "cache-control": "private, no-cache" } });
  expect(variesBy(answer)).toEqual(["accept", "x-service-access-token"]);
  expect(answer.headers).not.toHaveProperty("etag");
});
