import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readDashboardOperations } from "../../../src/server/pages/dashboard.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { openFolder } from "../../support/folder.js";
import { graphqlError } from "../../support/problems.js";
import { importOne, paths, product, storedProducts } from "../../support/products.js";
import { saved } from "../../support/shows.js";
import { subscribe } from "../../support/http/subscribe.js";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const read = "query Read($id: String!) { product(productId: $id) { id title __typename } }";
const watch = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { id } }";
const two = `query One { products { nodes { id } } } query Two { liveStreams { nodes { id } } }`;
const ids = { read: sha256(read), write: sha256(importOne), watch: sha256(watch), two: "named-by-hand" };
const documents = {
  [ids.read]: read,
  [ids.write]: importOne,
  [ids.watch]: watch,
  [`sha256:${"0".repeat(64)}`]: "{ __typename }",
  [ids.two]: two,
};

const folder = await openFolder();
const persistedOperations = await fileOf("persisted-documents.json", documents);
const free = await openTestApp({ persistedOperations });
const strict = await openTestApp({ persistedOperations, persistedOperationsOnly: true });

async function fileOf(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

const byHash = (sha256Hash: unknown) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } });

/** The answer to a body, four times over: to the one who made the operation known, and to those who come after. */
async function postFour(store: TestStore, body: unknown) {
  const answers = [];
  for (let n = 0; n < 4; n += 1) answers.push(await store.post("/graphql", body));
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  return answers[0];
}

const get = async (store: TestStore, params: Record<string, string>) =>
  readAnswer(await store.fetch(`/graphql?${new URLSearchParams(params)}`));

const notFound = {
  status: 404,
  body: { errors: [graphqlError("PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound")] },
};
const onlyPersisted = {
  status: 400,
  body: {
    errors: [graphqlError("BAD_REQUEST", "Only persisted operations are allowed: send the id of one as documentId.")],
  },
};

describe.each([
  ["with others", () => free],
  ["exclusive", () => strict],
])("persisted operations, %s,", (_, appOf) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await createTestStore(appOf());
    await store.post(paths.one, { product: product("mug", { title: "Mug" }) });
  });

  const variables = { id: "mug" };
  const mug = { status: 200, body: { data: { product: { id: "mug", title: "Mug", __typename: "Product" } } } };

  test.each([
    ["documentId", { documentId: ids.read }],
    ["documentId with a prefix", { documentId: `sha256:${ids.read}` }],
    ["documentId, and its name", { documentId: ids.read, operationName: "Read" }],
    ["Apollo's extension", byHash(ids.read)],
    ["Apollo's extension beside others", { extensions: { ...byHash(ids.read).extensions, client: { name: "shop" } } }],
    ["both, of which documentId counts", { documentId: ids.read, ...byHash("unknown") }],
    ["a name, and another text, which is not run", { documentId: ids.read, query: "{ nothing }" }],
    ["a name, and null for a text", { documentId: ids.read, query: null }],
  ])("are identified by %s in a POST", async (__, named) => {
    expect(await postFour(store, { ...named, variables })).toMatchObject(mug);
    const { status, body } = await readAnswer(
      await store.fetch("/graphql?lane=yoga", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...named, variables }),
      }),
    );
    expect({ status, body }).toEqual(mug);
  });

  test("are identified in a GET by either member", async () => {
    const params = { variables: JSON.stringify(variables) };
    expect(await get(store, { documentId: ids.read, ...params })).toMatchObject(mug);
    expect(await get(store, { extensions: JSON.stringify(byHash(ids.read).extensions), ...params })).toMatchObject(mug);
    expect(await get(store, { documentId: ids.read, query: "{ nothing }", ...params })).toMatchObject(mug);
  });

  test("may be mutations by POST, but not by GET", async () => {
    const own = await createTestStore(appOf());
    const refused = await get(own, { documentId: ids.write, variables: JSON.stringify({ product: product("cup") }) });
    expect(refused).toMatchObject({ status: 405, body: { errors: [{ extensions: { code: "METHOD_NOT_ALLOWED" } }] } });
    expect(await storedProducts(appOf(), own)).toEqual([]);
    const written = await own.post("/graphql", { documentId: ids.write, variables: { product: product("cup") } });
    expect(written).toMatchObject({ status: 200, body: { data: { importProduct: { created: 1 } } } });
    expect(await storedProducts(appOf(), own)).toHaveLength(1);
  });

  test("may be subscriptions", async () => {
    const owner = await createTestStore(free); // tokens are good for both
    const { id: lsId } = await saved(owner);
    const leave = new AbortController();
    const operation = { documentId: ids.watch, variables: { lsId } };
    for await (const value of subscribe(appOf(), owner, operation, leave.signal)) {
      expect(value).toEqual({ data: { liveStreamAnalytics: { id: lsId } } });
      break;
    }
    leave.abort();
  });

  test("may be several operations of one document", async () => {
    const answers = [
      await postFour(store, { documentId: ids.two, operationName: "One" }),
      await postFour(store, { documentId: ids.two, operationName: "Two" }),
    ];
    expect(answers).toMatchObject([{ body: { data: { products: {} } } }, { body: { data: { liveStreams: {} } } }]);
    expect(await postFour(store, { documentId: ids.two })).toMatchObject({
      body: { errors: [{ message: "Must provide operation name if query contains multiple operations." }] },
    });
  });

  test("may have an id with another prefix", async () => {
    expect(await postFour(store, { documentId: `sha256:${"0".repeat(64)}` })).toMatchObject({
      body: { data: { __typename: "Query" } },
    });
  });

  test("need a token, and return the data of its store", async () => {
    const anonymous = await fetch(`${appOf().url}/graphql?documentId=${ids.read}`);
    expect(anonymous.status).toBe(401);
    const other = await createTestStore(appOf());
    expect(await other.post("/graphql", { documentId: ids.read, variables })).toMatchObject({
      body: { errors: [{ extensions: { code: "PRODUCT_NOT_FOUND" } }] },
    });
  });

  test("that are unknown have the code and message that clients expect", async () => {
    for (const unknown of ["", "x", sha256("x"), "__proto__", "constructor", `sha256:sha256:${ids.read}`]) {
      expect(await store.post("/graphql", { documentId: unknown, variables })).toMatchObject(notFound);
      expect(await store.post("/graphql", { ...byHash(unknown), variables })).toMatchObject(notFound);
      expect(await get(store, { documentId: unknown })).toMatchObject(notFound);
      expect(await get(store, { extensions: JSON.stringify(byHash(unknown).extensions) })).toMatchObject(notFound);
    }
    expect(appOf().logged).toEqual([]);
  });

  test.each([5, true, {}, ["x"]])("cannot have the id %j", async (id) => {
    const refused = {
      status: 400,
      body: { errors: [graphqlError("BAD_REQUEST", "The id of a persisted operation must be a string.")] },
    };
    expect(await store.post("/graphql", { documentId: id })).toMatchObject(refused);
    expect(await store.post("/graphql", byHash(id))).toMatchObject(refused);
  });
});

describe("an operation sent in full", () => {
  const introspection = "{ __schema { queryType { name } } }";
  const unnamed: unknown[] = [
    { query: read, variables: { id: "mug" } },
    { query: introspection },
    { query: introspection, documentId: null },
    { query: introspection, extensions: { persistedQuery: null } },
    { query: introspection, extensions: {} },
    {},
    [],
    [{ documentId: ids.read }],
    null,
    "x",
  ];

  test("runs, even if its id is unknown", async () => {
    const store = await createTestStore(free);
    const answer = { status: 200, body: { data: { __schema: { queryType: { name: "Query" } } } } };
    expect(await postFour(store, { query: introspection })).toMatchObject(answer);
    expect(await postFour(store, { query: introspection, ...byHash(sha256(introspection)) })).toMatchObject(answer);
    expect(await get(store, { query: introspection })).toMatchObject(answer);
    expect(await get(store, { query: introspection, documentId: "x" })).toMatchObject(answer);
    expect((await fetch(`${free.url}/graphql`, { headers: { accept: "text/html" } })).status).toBe(200);
  });

  test.each(unnamed)("is refused if only persisted ones may run: %j", async (body) => {
    const store = await createTestStore(strict);
    for (const path of ["/graphql", `/graphql?documentId=${ids.read}`, `/graphql?query={__typename}`]) {
      expect(await store.post(path, body)).toMatchObject(path === "/graphql" ? onlyPersisted : { status: 400 });
    }
  });

  test("is refused by GET and with an unknown id too, and GraphiQL is not served", async () => {
    const store = await createTestStore(strict);
    for (const params of [{ query: introspection }, { query: read }, {}, { extensions: "{" }, { extensions: "[]" }]) {
      expect(await get(store, params as Record<string, string>)).toMatchObject(onlyPersisted);
    }
    expect(await store.post("/graphql", { query: introspection, documentId: sha256(introspection) })).toMatchObject(
      notFound,
    );
    expect(await get(store, { query: introspection, documentId: sha256(introspection) })).toMatchObject(notFound);
    const page = await fetch(`${strict.url}/graphql`, { headers: { accept: "text/html" } });
    expect(page.headers.get("content-type")).not.toContain("text/html");
    await page.body?.cancel();
  });

  test("the dashboard's own operations run, but none that only resemble them", async () => {
    const store = await createTestStore(strict);
    const shows = String((await readDashboardOperations()).find((text) => text.includes("query Shows(")));
    const answer = { status: 200, body: { data: { liveStreams: { nodes: [] } } } };
    expect(await postFour(store, { query: shows, variables: { first: 1 } })).toMatchObject(answer);
    expect(await get(store, { query: shows })).toMatchObject(answer);
    const twice = [
      ["query", introspection],
      ["query", shows],
    ];
    for (const pairs of [twice, twice.toReversed()]) {
      const { status } = await store.fetch(`/graphql?${new URLSearchParams(pairs)}`);
      expect(status).toBe(400);
    }
    for (const query of [`${shows} `, shows.trim(), [shows]]) {
      expect(await store.post("/graphql", { query })).toMatchObject(onlyPersisted);
    }
  });

  test("REST is not affected", async () => {
    const store = await createTestStore(strict);
    expect(await store.post(paths.one, { product: product("a") })).toMatchObject({ status: 200 });
  });
});

describe("without a file of persisted operations", async () => {
  const plain = await openTestApp();
  const store = await createTestStore(plain);
  const notSupported = {
    status: 400,
    body: { errors: [graphqlError("PERSISTED_QUERY_NOT_SUPPORTED", "PersistedQueryNotSupported")] },
  };

  test.each([
    ["a hash", byHash("0".repeat(64))],
    ["a documentId", { documentId: "0".repeat(64), variables: {} }],
  ])("%s alone is answered as clients know it", async (_, body) => {
    expect(await postFour(store, body)).toMatchObject(notSupported);
    const { extensions, ...others } = { extensions: undefined, ...body };
    const params = { ...others, ...(extensions && { extensions: JSON.stringify(extensions) }) };
    expect(await get(store, params as Record<string, string>)).toMatchObject(notSupported);
  });

  test("Apollo's client then sends operations in full, and the hash no more", async () => {
    const bodies: string[] = [];
    const send: typeof fetch = (url, options) => {
      if (typeof options?.body === "string") bodies.push(options.body);
      return fetch(url, options);
    };
    const http = new HttpLink({
      uri: `${plain.url}/graphql`,
      fetch: send,
      headers: { "X-Service-Access-Token": store.token },
    });
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: new PersistedQueryLink({ sha256 }).concat(http),
    });
    const query = gql("{ store { id } }");
    for (let use = 0; use < 2; use += 1) {
      const { data } = await client.query({ query, fetchPolicy: "no-cache" });
      expect(data).toMatchObject({ store: { id: store.id } });
    }
    expect(
      bodies.map((body) => [body.includes("sha256Hash"), body.includes("query {") || body.includes('"query"')]),
    ).toEqual([
      [true, false],
      [false, true],
      [false, true],
    ]);
  });
});
