import { readFile } from "node:fs/promises";
import {
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isLeafType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
} from "graphql";
import { beforeAll, describe, expect, test } from "vitest";
import { anyToken, type RequiredScope, type Scope, scopes, issueToken, listTokens } from "../../src/access/token.js";
import { rotateToken } from "../../src/access/token.replace.js";
import { schema } from "../../src/graphql/schema.js";
import { createTestStore, openTestApp, storeAt, type TestStore } from "../support/app.js";
import { view } from "../support/events.js";
import { type Document, operationsOf } from "../support/http/openapi.js";
import { paths, product } from "../support/products.js";
import { pathScopes } from "../support/access/scopes.js";
import { recorded, saved } from "../support/shows.js";
import { subscribe } from "../support/http/subscribe.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

/** What each field of the root types takes: one that is new must be added here on purpose. */
const fieldScopes: Readonly<Record<string, RequiredScope>> = {
  "Query.store": anyToken,
  "Query.product": "catalog:read",
  "Query.products": "catalog:read",
  "Query.liveStream": "analytics:read",
  "Query.liveStreams": "analytics:read",
  "Query.liveStreamAnalytics": "analytics:read",
  "Query.storeAnalytics": "analytics:read",
  "Query.productPerformance": "analytics:read",
  "Query.order": "analytics:read",
  "Query.orders": "analytics:read",
  "Query.attributionPreview": "analytics:read",
  "Mutation.importProduct": "catalog:write",
  "Mutation.importProducts": "catalog:write",
  "Mutation.importProductsCsv": "catalog:write",
  "Mutation.patchProducts": "catalog:write",
  "Mutation.deleteProduct": "catalog:write",
  "Mutation.saveLiveStream": "shows:write",
  "Mutation.deleteLiveStream": "shows:write",
  "Mutation.recordShopperEvents": "events:write",
  "Mutation.recordOrders": "events:write",
  "Mutation.eraseViewer": "events:write",
  "Subscription.liveStreamAnalytics": "analytics:read",
};

type Root = "Query" | "Mutation" | "Subscription";

const rootFields = (["Query", "Mutation", "Subscription"] as const).flatMap((root) =>
  Object.values(rootOf(root)).map((field) => ({ root, field })),
);

function rootOf(root: Root): Readonly<Record<string, GraphQLField<unknown, unknown>>> {
  const type = {
    Query: schema.getQueryType(),
    Mutation: schema.getMutationType(),
    Subscription: schema.getSubscriptionType(),
  };
  return type[root]?.getFields() ?? {};
}

/** A call of a root field with made-up values for all that it requires. */
function callOf({ root, field }: (typeof rootFields)[number]): string {
  const required = field.args.filter(isRequiredArgument).map(({ name, type }) => `${name}: ${literalOf(type)}`);
  const given = required.length === 0 ? "" : `(${required.join(", ")})`;
  const type = getNamedType(field.type);
  return `${root.toLowerCase()} { ${field.name}${given}${isLeafType(type) ? "" : " { __typename }"} }`;
}

function literalOf(type: GraphQLInputType): string {
  if (isNonNullType(type)) return literalOf(type.ofType);
  if (isListType(type)) return `[${literalOf(type.ofType)}]`;
  if (isEnumType(type)) return type.getValues()[0]?.name ?? "";
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter(isRequiredInputField);
    return `{ ${fields.map((field) => `${field.name}: ${literalOf(field.type)}`).join(", ")} }`;
  }
  if (type.name === "DateTime") return `"2026-05-04T18:30:00Z"`;
  return type.name === "String" ? `"none"` : type.name === "Boolean" ? "true" : "1";
}

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

describe("every field of the root types has a scope, and is refused without it", () => {
  test("the list above is complete", () => {
    expect(rootFields.map(({ root, field }) => `${root}.${field.name}`).toSorted()).toEqual(
      Object.keys(fieldScopes).toSorted(),
    );
  });

  test("docs/access.md names each in the row of its scope", async () => {
    const page = await readFile("docs/access.md", "utf8");
    const rows = new Map([...page.matchAll(/^\| `(\w+:\w+)` +\|(.*)$/gmu)].map(([, scope, row]) => [scope, row]));
    const missing = rootFields.filter(({ root, field }) => {
      const scope = fieldScopes[`${root}.${field.name}`];
      return root !== "Subscription" && scope !== anyToken && !rows.get(scope)?.includes(`\`${field.name}\``);
    });
    expect(missing.map(({ field }) => field.name)).toEqual([]);
  });

  test.each(rootFields.map((entry) => [`${entry.root}.${entry.field.name}`, entry] as const))(
    "%s",
    async (name, entry) => {
      const store = await createTestStore(app);
      const scope = fieldScopes[name] ?? anyToken;
      const accept = entry.root === "Subscription" ? "text/event-stream" : "application/json";
      if (scope === anyToken) {
        expect((await operate(await tokenWith(store, "events:write"), callOf(entry), accept)).status).toBe(200);
        return;
      }
      // More than two calls, so that the operation is compiled, too.
      for (let call = 0; call < 4; call += 1) {
        const refused = await operate(await tokenWith(store, ...allBut(scope)), callOf(entry), accept);
        expect(refused.status, refused.text).toBe(403);
        expect(refused.text).toContain(JSON.stringify(refusal(scope).extensions));
        const allowed = await operate(await tokenWith(store, scope), callOf(entry), accept);
        expect(allowed.status, allowed.text).not.toBe(403);
        expect(allowed.text).not.toContain("FORBIDDEN");
      }
    },
  );
});

describe("every path of REST has a scope, and is refused without it", () => {
  let document: Document;
  beforeAll(async () => {
    document = (await (await fetch(`${app.url}/openapi.json`)).json()) as Document;
  });

  test("the list above is complete, and the document names the answer", () => {
    const operations = operationsOf(document);
    expect(operations.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
      Object.keys(pathScopes).toSorted(),
    );
    for (const { operation } of operations) expect(Object.keys(operation["responses"])).toContain("403");
  });

  test.each(Object.entries(pathScopes))("%s", async (place, scope) => {
    const store = await createTestStore(app);
    const [method = "", path = ""] = place.replaceAll(/\{\w+\}/gu, "none").split(" ");
    const methods = method === "GET" ? ["GET", "HEAD"] : [method];
    if (scope === anyToken) {
      for (const each of scopes) expect((await (await tokenWith(store, each)).get(path)).status).toBe(200);
      return;
    }
    const [refused, allowed] = [await tokenWith(store, ...allBut(scope)), await tokenWith(store, scope)];
    for (const one of methods) {
      // The scope is checked before the body is read: what is wrong with it does not matter.
      const body =
        one === "GET" || one === "HEAD" ? {} : { body: "{", headers: { "content-type": "application/json" } };
      const response = await refused.fetch(path, { method: one, ...body });
      expect(response.status).toBe(403);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      if (one !== "HEAD") expect(await response.json()).toEqual(problem(scope));
      expect((await allowed.fetch(path, { method: one, ...body })).status).not.toBe(403);
    }
  });

  test("a body that is a file is not read either", async () => {
    const store = await createTestStore(app);
    const reader = await tokenWith(store, ...allBut("catalog:write"));
    for (const [path, type] of [
      ["/external/product/v1/bulk", "application/x-ndjson"],
      ["/external/product/v1/bulk/csv", "text/csv"],
    ] as const) {
      const response = await reader.fetch(path, { method: "POST", headers: { "content-type": type }, body: "id,\n" });
      expect([response.status, await response.json()]).toEqual([403, problem("catalog:write")]);
    }
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
    for (let call = 0; call < 4; call += 1) {
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
      for (let call = 0; call < 4; call += 1) {
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
