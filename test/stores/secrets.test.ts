import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { OpenDatabase } from "../../src/database/open.js";
import { revokeToken } from "../../src/stores/token.replace.js";
import { hashSecret, issueToken } from "../../src/stores/token.js";
import { createTestStore, startApp, type TestApp, testDatabase, type TestStore } from "../support/app.js";
import { brokenDatabase } from "../support/faults/brokenDatabase.js";
import { type Collector, startCollector } from "../support/process/collector.js";
import { paths, product } from "../support/products.js";
import { analyticsPath, readAnalytics, saved } from "../support/shows.js";
import { everythingOf } from "../support/stored.js";

const json = { "content-type": "application/json" };
const readProduct = "query ($id: String!) { product(productId: $id) { id } }";

let app: TestApp;
let collector: Collector;
let store: TestStore;
/** Another store's token, one that was revoked, and one that nobody has. */
let others: string[];
/** Every answer, headers included. */
let answered: string[];

async function begin(database?: OpenDatabase): Promise<void> {
  collector = await startCollector();
  app = await startApp({ logLevel: "trace", otlpEndpoint: collector.url }, database);
  store = await createTestStore(app);
  const revoked = await issueToken(app.db, store.id);
  const working = testDatabase(); // the app's may be one that fails
  await revokeToken(working.client, store.id, revoked.id);
  await working.close();
  others = [(await createTestStore(app)).token, revoked.token, `vt_${randomBytes(32).toString("base64url")}`];
  answered = [];
}

/** For one test, on a database that fails. */
async function beginOn(database: OpenDatabase): Promise<void> {
  await begin(database);
  const { app: own, collector: ofOwn } = { app, collector };
  onTestFinished(async () => {
    await own.close();
    await ofOwn.close();
  });
}

/** Sends a request with the store's token, or with the one given, and keeps the answer. */
async function send(path: string, options: RequestInit = {}, token: string | null = store.token): Promise<number> {
  const headers = { ...(token !== null && { "X-Service-Access-Token": token }), ...(options.headers as object) };
  const response = await fetch(`${app.url}${path}`, { ...options, headers, signal: AbortSignal.timeout(60_000) });
  answered.push(JSON.stringify([...response.headers]), await response.text());
  return response.status;
}

const post = (path: string, body: unknown, token?: string | null) =>
  send(path, { method: "POST", headers: json, body: JSON.stringify(body) }, token);

const withToken = (texts: readonly string[]) => {
  const secrets = [store.token, ...others].map((token) => token.replace(/^vt_/u, ""));
  return texts.filter((text) => secrets.some((secret) => text.includes(secret)));
};

/** What was logged, answered or counted with a token in it, whole or without its prefix. */
async function leaks(): Promise<string[]> {
  const metrics = await (await fetch(`${app.url}/metrics`)).text();
  return withToken([...app.logged, ...app.accessLog, ...answered, metrics]);
}

/** Likewise, or traced. The app is closed after that. */
async function leaksAtEnd(): Promise<string[]> {
  const found = await leaks();
  await app.close(); // which sends the traces
  expect(collector.spans.some(({ name }) => name === "GET /metrics")).toBe(true);
  return [...found, ...withToken(collector.received)];
}

/** One call of each kind. */
async function callAll(token: string | null): Promise<number[]> {
  return [
    await post(paths.one, { product: product("a") }, token),
    await post(paths.bulk, { products: [product("a", { price: -1 })] }, token),
    await send(paths.of("a"), {}, token),
    await send(paths.of("none"), {}, token),
    await send(analyticsPath("none"), {}, token),
    await send(paths.of("a"), { method: "DELETE" }, token),
    await post("/graphql", { query: "{ products { nodes { id } } }" }, token),
    await post("/graphql", { query: "{ nothing }" }, token),
    await send("/graphql?query={__typename}", {}, token),
  ];
}

describe("no token is logged or returned", () => {
  beforeAll(() => begin());
  afterAll(() => collector.close());

  test("or stored: the database holds the hash of a token, and the token in no column of any table", async () => {
    await callAll(store.token);
    const stored = await everythingOf(app, store);
    expect(stored["AccessToken"]).toHaveLength(2);
    expect(stored["AccessToken"]?.join("")).toContain(hashSecret(store.token));
    for (const token of [store.token, ...others]) expect(JSON.stringify(stored)).not.toContain(token.slice(3));
  });

  test("after calls that are served, and calls that are refused for their content", async () => {
    expect(await callAll(store.token)).toEqual([200, 400, 200, 400, 404, 200, 200, 200, 200]);
    const { id: lsId } = await saved(store, { status: "LIVE", durationSeconds: null });
    expect(await post("/graphql", { query: readAnalytics, variables: { lsId } })).toBe(200);
    for (const path of ["/", "/graphql", "/openapi.json", "/healthz", "/readyz", "/nowhere"]) {
      await send(path, { headers: { accept: "text/html" } });
    }
    expect(await leaks()).toEqual([]);
  });

  test("after calls that are refused for their token", async () => {
    const [, revoked = "", wrong = ""] = others;
    for (const token of [revoked, wrong, `${store.token}x`, store.token.slice(0, -1), `Bearer ${store.token}`, null]) {
      expect(new Set(await callAll(token))).toEqual(new Set([401]));
    }
    const doubled = new Headers({ "X-Service-Access-Token": store.token });
    doubled.append("X-Service-Access-Token", others[0] ?? "");
    expect(await send(paths.of("a"), { headers: Object.fromEntries(doubled) }, null)).toBe(401);
    for (const headers of [{ authorization: `Bearer ${store.token}` }, { cookie: `token=${store.token}` }]) {
      expect(await send(paths.of("a"), { headers }, null)).toBe(401);
    }
    expect(await leaks()).toEqual([]);
  });

  test("where a caller puts it into the path or the query string", async () => {
    for (const token of [store.token, others[0] ?? ""]) {
      for (const sent of [store.token, null]) {
        await send(`${paths.of("a")}?X-Service-Access-Token=${token}&token=${token}&siteId=${token}`, {}, sent);
        await send(paths.of(token), {}, sent);
        await send(paths.of(token), { method: "PUT" }, sent);
        await send(analyticsPath(token), {}, sent);
        await send(`/nowhere/${token}?token=${token}`, {}, sent);
        await post(`${paths.one}?token=${token}`, {}, sent);
        await post(`/graphql?token=${token}`, { query: "{ nothing }" }, sent);
        await send(`/graphql?query={__typename}&token=${token}`, {}, sent);
      }
    }
    expect(await leaks()).toEqual([]);
  });

  // Unknown names, such as a column of a CSV, are repeated to who sent them; values never are.
  test("where a caller puts it as a value into the body or a variable, whatever the type that is expected there", async () => {
    const list = `query ($first: Int, $available: Boolean, $status: LiveStreamStatus, $after: String) {
      products(first: $first, available: $available) { nodes { id } } liveStreams(status: $status, after: $after) { nodes { id } }
    }`;
    for (const token of [store.token, others[0] ?? ""]) {
      const bad = product("a", { id: [token], sku: { a: token }, available: token, price: token, url: token });
      await post(paths.one, { product: bad, siteId: token });
      await post(paths.one, { product: product("a"), siteId: token, token });
      await post(paths.bulk, { products: token });
      await post(paths.csv, { csvContent: `id\n${token}` });
      await post(paths.csv, {
        csvContent: `id,sku,title,available,featured_image,url\na,b,c,${token},${token},${token}`,
      });
      await send(paths.one, { method: "POST", headers: json, body: `{"product": "${token}" ${token}` });
      await send(paths.one, { method: "POST", headers: json, body: `"${token}"` });
      await send("/graphql", { method: "POST", headers: json, body: token });
      await post("/graphql", { query: readProduct, variables: { id: token } });
      await post("/graphql", { query: readProduct, variables: { id: { token } } });
      await post("/graphql", { query: readProduct, variables: token, operationName: "x", extensions: token });
      for (const name of ["first", "available", "status", "after"]) {
        await post("/graphql", { query: list, variables: { [name]: token } });
      }
      await post("/graphql", { query: `{ product(productId: "${token}") { id } }` });
    }
    expect(await leaks()).toEqual([]);
  });

  test("in traces of all of these", async () => {
    expect(await leaksAtEnd()).toEqual([]);
  });
});

describe("nor, on a database that fails,", () => {
  test("where a caller puts it into X-Request-Id, alone or within other text: the response has a new id", async () => {
    await beginOn(brokenDatabase(() => Promise.reject(new TypeError("broken")))); // so that ids are logged
    const ownForm = "a-token-of-the-operators-choice";
    await issueToken(app.db, store.id, { secret: ownForm });
    for (const token of [store.token, others[0] ?? "", store.token.toUpperCase()]) {
      for (const id of [token, `trace:${token}`, `${token}.1`]) {
        await send(paths.of("a"), { headers: { "X-Request-Id": id } });
        await post("/graphql", { query: readProduct, variables: { id: "a" } });
        await send("/healthz", { headers: { "X-Request-Id": id } }, null);
      }
    }
    for (const id of [ownForm, `id-${ownForm}`]) {
      expect(await send(paths.of("a"), { headers: { "X-Request-Id": id } }, ownForm)).toBe(500);
    }
    expect(app.logged.length).toBeGreaterThan(10);
    expect(await leaksAtEnd()).toEqual([]);
    expect([...app.logged, ...app.accessLog, ...answered, ...collector.received].join("")).not.toContain(ownForm);
    expect(answered.join("")).not.toMatch(/vt_/iu);
  });

  test.each<[string, (database: OpenDatabase) => Promise<never>]>([
    ["of the program", () => Promise.reject(new TypeError("broken"))],
    ["of the database", ({ client }) => client.$queryRaw<never>`/* of a test */ SELECT "Nowhere"(${store.token})`],
  ])("after an error %s in the middle of a call", async (_, fail) => {
    await beginOn(brokenDatabase(fail));
    expect(await send(paths.of(store.token))).toBe(500);
    expect(await post(paths.one, { product: product(store.token), siteId: "" })).toBe(500);
    await post("/graphql", { query: readProduct, variables: { id: store.token } });
    expect(app.logged).toHaveLength(3);
    expect(await leaksAtEnd()).toEqual([]);
  });

  test("after an error while the token is looked up", async () => {
    const database = testDatabase();
    const { client } = database;
    let isBroken = false;
    const accessToken = new Proxy(client.accessToken, {
      get: (target, name) =>
        isBroken && name === "findUnique"
          ? ({ where }: { where: object }) => target.findUnique({ where: { ...where, nowhere: 1 } as never })
          : Reflect.get(target, name, target),
    });
    const broken = new Proxy(client, {
      get: (target, name) => (name === "accessToken" ? accessToken : Reflect.get(target, name, target)),
    });
    await beginOn({ ...database, client: broken });
    isBroken = true;
    for (const token of [store.token, ...others]) {
      expect(await send(paths.of("a"), {}, token)).toBe(500);
      expect(await post("/graphql", { query: "{ __typename }" }, token)).toBe(500);
    }
    expect(app.logged).toHaveLength(2 * (1 + others.length));
    expect(await leaksAtEnd()).toEqual([]);
  });
});
