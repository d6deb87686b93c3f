import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { anyToken, type Scope, scopes } from "../../src/schema/scopes.js";
import { issueToken, listTokens } from "../../src/stores/token.js";
import { rotateToken } from "../../src/stores/token.replace.js";
import { answerTo, asksOf, type Names, operations } from "../support/access/calls.js";
import { createTestStore, openTestApp, storeAt, type TestStore } from "../support/app.js";
import { view } from "../support/events.js";
import { type Document, operationsOf } from "../support/http/openapi.js";
import { subscribe } from "../support/http/subscribe.js";
import { paths, product } from "../support/products.js";
import { recorded, saved } from "../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

/** Another token of a store, which allows only these. */
async function tokenWith(store: Pick<TestStore, "id">, ...granted: readonly Scope[]): Promise<TestStore> {
  const { token } = await issueToken(app.db, store.id, { scopes: granted });
  return storeAt(app.url, { id: store.id, token });
}

const allBut = (missing: Scope) => scopes.filter((scope) => scope !== missing);

function refusal(scope: Scope) {
  const message = `The access token does not have the scope ${scope}.`;
  const errors = [{ code: "FORBIDDEN", message, path: [] }];
  return { message, extensions: { code: "FORBIDDEN", errors, errorsTotal: 1 } };
}

function problem(scope: Scope) {
  const { message: detail, extensions } = refusal(scope);
  const type = "urn:vitrine:problem:forbidden";
  return { type, title: "Not allowed by the access token", status: 403, detail, ...extensions };
}

async function operate(store: TestStore, query: string, accept = "application/json") {
  const response = await store.fetch("/graphql", {
    method: "POST",
    headers: { "content-type": "application/json", accept },
    body: JSON.stringify({ query }),
  });
  return { status: response.status, text: await response.text() };
}

const caller = await createTestStore(app);

/** For calls whose answers are not looked at but for their status: there is nothing in the store that they name. */
const names: Names = { by: { siteType: ["SHOP"] }, every: ["none"] };

describe("an operation is refused without its scope, and allowed with it alone:", () => {
  const byScope = new Map<Scope, { readonly only: TestStore; readonly others: TestStore }>();
  beforeAll(async () => {
    for (const scope of scopes) {
      byScope.set(scope, { only: await tokenWith(caller, scope), others: await tokenWith(caller, ...allBut(scope)) });
    }
  });

  test.each(operations.map((operation) => [operation.name, operation] as const))("%s", async (_, operation) => {
    const { scope } = operation;
    const [given = {}] = asksOf(operation, names);
    for (const sent of operation.calls(given, true)) {
      if (scope === anyToken) {
        for (const { only } of byScope.values()) expect((await answerTo(only, sent)).status).toBe(200);
        continue;
      }
      const { only, others } = byScope.get(scope) ?? expect.fail(scope);
      const isGraphql = sent.path === "/graphql";
      // The scope is checked before the body of a path is read: what is wrong with it does not matter.
      const refusedCall = isGraphql || sent.body === undefined ? sent : { ...sent, body: "{" };
      // The third call of a GraphQL operation is the first that is compiled.
      for (let times = isGraphql ? 3 : 1; times > 0; times -= 1) {
        const { status, headers, text } = await answerTo(others, refusedCall);
        expect(status, text).toBe(403);
        if (isGraphql) expect(text).toContain(JSON.stringify(refusal(scope).extensions));
        else expect(JSON.parse(text)).toEqual(problem(scope));
        if (!isGraphql) expect(new Map(headers).get("content-type")).toBe("application/problem+json");
      }
      const { status, text } = await answerTo(only, sent);
      expect(status).not.toBe(403);
      expect(text).not.toContain(refusal(scope).message);
      if (sent.method !== "GET") continue;
      expect((await answerTo(others, { ...sent, method: "HEAD" })).status).toBe(403);
      expect((await answerTo(only, { ...sent, method: "HEAD" })).status).not.toBe(403);
    }
  });

  test("docs/access.md names each field in the row of its scope", async () => {
    const page = await readFile("docs/access.md", "utf8");
    const rows = new Map([...page.matchAll(/^\| `(\w+:\w+)` +\|(.*)$/gmu)].map(([, scope, row]) => [scope, row]));
    const missing = operations.filter(
      ({ scope, field }) => scope !== anyToken && field !== undefined && !rows.get(scope)?.includes(`\`${field}\``),
    );
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  test("the OpenAPI document has each path, with the answer 403", async () => {
    const documented = operationsOf((await (await fetch(`${app.url}/openapi.json`)).json()) as Document);
    const listed = documented.map(({ method, path }) => `${method} ${path.replaceAll(/\{(\w+)\}/gu, ":$1")}`);
    expect(listed.toSorted()).toEqual(
      operations
        .map(({ name }) => name)
        .filter((name) => name.includes("/"))
        .toSorted(),
    );
    for (const { operation } of documented) expect(Object.keys(operation["responses"])).toContain("403");
  });
});

describe("the answer", () => {
  test("is the same whether or not what was asked for exists", async () => {
    const store = await createTestStore(app);
    await store.post(paths.one, { product: product("there") });
    const { id: lsId } = await saved(store);
    const writer = await tokenWith(store, "events:write");
    const answers = await Promise.all(["there", "nowhere"].map((id) => writer.get(`/external/product/v1/${id}`)));
    expect(answers[0]).toEqual(answers[1]);
    expect(await writer.get(`/external/analytics/v1/live-streams/${lsId}`)).toEqual(
      await writer.get("/external/analytics/v1/live-streams/nowhere"),
    );
  });

  test("of a query has the fields that are allowed, and errors beside those that are not", async () => {
    const store = await createTestStore(app);
    await store.post(paths.one, { product: product("shirt") });
    const reader = await tokenWith(store, "catalog:read");
    const query = `{ shows: liveStreams { nodes { id } } products { nodes { id } } }`;
    for (let call = 0; call < 3; call += 1) {
      expect(await reader.graphql(query)).toEqual({
        data: { shows: null, products: { nodes: [{ id: "shirt" }] } },
        errors: [{ ...refusal("analytics:read"), path: ["shows"], locations: expect.any(Array) }],
      });
    }
    const refused = await operate(reader, `{ liveStream(lsId: "a") { id } shows: liveStreams { nodes { id } } }`);
    expect([refused.status, JSON.parse(refused.text).data]).toEqual([403, { liveStream: null, shows: null }]);
  });

  test("of a mutation one of whose fields is not allowed: none of them runs", async () => {
    const store = await createTestStore(app);
    await store.post(paths.one, { product: product("shirt") });
    const writer = await tokenWith(store, "catalog:write");
    const removing = `deleteProduct(productId: "shirt") { message }`;
    const other = `deleteLiveStream(lsId: "none") { message }`;
    const refused = [
      `mutation { ${removing} gone: ${other} }`,
      `mutation { gone: ${other} ${removing} }`,
      `mutation { ${removing} ... on Mutation { gone: ${other} } }`,
      `mutation { ${removing} ...Other } fragment Other on Mutation { gone: ${other} }`,
      `mutation ($with: Boolean = true) { ${removing} gone: ${other} }`.replace(
        other,
        other.replace(" {", " @include(if: $with) {"),
      ),
    ];
    for (const query of refused) {
      for (let call = 0; call < 3; call += 1) {
        const { status, text } = await operate(writer, query);
        expect([query, status, JSON.parse(text)]).toEqual([
          query,
          403,
          { data: null, errors: [{ ...refusal("shows:write"), path: ["gone"], locations: expect.any(Array) }] },
        ]);
      }
    }
    expect((await store.get("/external/product/v1/shirt")).status).toBe(200);
    const skipped = `mutation { ${removing} ...Other @skip(if: true) } fragment Other on Mutation { gone: ${other} }`;
    expect(await writer.graphql(skipped)).toEqual({
      data: { deleteProduct: { message: "Product shirt was deleted." } },
    });
  });

  test("to introspection needs any valid token", async () => {
    const store = await createTestStore(app);
    for (const scope of scopes) {
      const { data } = await (await tokenWith(store, scope)).graphql("{ __schema { queryType { name } } __typename }");
      expect(data).toEqual({ __schema: { queryType: { name: "Query" } }, __typename: "Query" });
    }
  });

  test("to a subscription is 403 in each protocol", async () => {
    const store = await createTestStore(app);
    const writer = await tokenWith(store, "events:write");
    const query = `subscription { liveStreamAnalytics(lsId: "none") { id } }`;
    for (const accept of [
      "text/event-stream",
      "multipart/mixed;subscriptionSpec=1.0",
      "application/json, text/event-stream",
    ]) {
      const { status, text } = await operate(writer, query, accept);
      expect([accept, status], text).toEqual([accept, 403]);
      expect(text).toContain("FORBIDDEN");
    }
  });
});

test("catalog data of a show's products needs catalog:read, also over a shared subscription", async () => {
  const store = await createTestStore(app);
  await store.post(paths.one, { product: product("shirt", { title: "Linen shirt" }) });
  const { id: lsId } = await saved(store);
  await recorded(store, lsId, [
    view("e1", { viewerId: "v" }),
    { id: "e2", type: "ADD_TO_CART", channel: "LIVE", viewerId: "v", productId: "shirt" },
  ]);
  const query = `($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { topProducts { productId product { title } } } }`;
  const reader = await tokenWith(store, "analytics:read");
  const products = (title: string | undefined) => ({
    liveStreamAnalytics: { topProducts: [{ productId: "shirt", product: title === undefined ? null : { title } }] },
  });
  const error = { ...refusal("catalog:read"), path: ["liveStreamAnalytics", "topProducts", 0, "product"] };
  expect(await reader.graphql(`query ${query}`, { lsId })).toEqual({
    data: products(undefined),
    errors: [{ ...error, locations: expect.any(Array) }],
  });
  const leaving = new AbortController();
  const operation = { query: `subscription ${query}`, variables: { lsId } };
  const [full, without] = [store, reader].map((one) => subscribe(app, one, operation, leaving.signal));
  const [first, second] = await Promise.all([full?.next(), without?.next()]);
  expect(first?.value).toEqual({ data: products("Linen shirt") });
  expect(second?.value).toMatchObject({ data: products(undefined), errors: [error] });
  leaving.abort();
});

describe("the scopes of a token", () => {
  test("are all if none is named", async () => {
    const { id: store } = await createTestStore(app);
    expect((await listTokens(app.db, store)).map((token) => token.scopes)).toEqual([[...scopes]]);
  });

  test("are ordered and distinct, returned to the caller, and kept by a rotation", async () => {
    const store = await createTestStore(app);
    const given = ["analytics:read", "catalog:read", "analytics:read"];
    const { id, scopes: issued } = await issueToken(app.db, store.id, { scopes: given });
    expect(issued).toEqual(["catalog:read", "analytics:read"]);
    const { issued: successor } = await rotateToken(app.db, store.id, id, { graceMs: 60_000 });
    expect(successor.scopes).toEqual(issued);
    const { data } = await storeAt(app.url, { id: store.id, token: successor.token }).graphql("{ store { scopes } }");
    expect(data).toEqual({ store: { scopes: issued } });
  });

  test("must exist", async () => {
    const { id } = await createTestStore(app);
    await expect(issueToken(app.db, id, { scopes: ["catalog"] })).rejects.toMatchObject({
      code: "VALIDATION_FAILED",
      message: "scope must be one of catalog:read, catalog:write, shows:write, events:write, analytics:read.",
    });
    expect(await listTokens(app.db, id)).toHaveLength(1);
  });
});
