import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { refusedOperation } from "../../support/problems.js";
import { product } from "../../support/products.js";

const app = await openTestApp();
const store = await createTestStore(app);

/** Posts an operation with other members beside it. */
async function post(members: string) {
  const body = `{"query":"{ __typename }",${members}}`;
  return readAnswer(
    await store.fetch("/graphql", { method: "POST", headers: { "content-type": "application/json" }, body }),
  );
}

describe("a member of a GraphQL request that means nothing is ignored", () => {
  test.each([
    ["that a promise has", `"then":{}`],
    ["that a promise of others has", `"then":"x","catch":"x","finally":"x"`],
    ["that a response has", `"status":200,"headers":{"x-injected":"1"}`],
    ["that an object has anyway", `"__proto__":{"query":"x"},"constructor":1`],
    ["with a long name", `"${"x".repeat(100_000)}":1`],
    ["that other servers know", `"id":"1","key":null,"operationName":null`],
  ])("%s", async (_, members) => {
    for (let use = 0; use < 4; use += 1) {
      const answer = await post(members);
      expect(answer).toMatchObject({ status: 200, body: { data: { __typename: "Query" } } });
    }
    expect(app.logged.filter((line) => line.includes('"level":50'))).toEqual([]);
  });
});

test.each(["{}", '{"qeury":"{ __typename }"}', '{"query":null,"variables":{}}'])(
  "a body without a query is a bad request: %s",
  async (body) => {
    const options = { method: "POST", headers: { "content-type": "application/json" }, body };
    expect(await readAnswer(await store.fetch("/graphql", options))).toEqual({
      status: 400,
      type: "application/json; charset=utf-8",
      body: refusedOperation("Must provide query string."),
    });
  },
);

describe("invalid JSON in the query string is a bad request", () => {
  test.each(["variables", "extensions"])("in %s", async (name) => {
    for (const value of ["{", "x", '{"a":NaN}', "\ud800"]) {
      const search = new URLSearchParams({ query: "{ __typename }", [name]: value });
      expect(await store.get(`/graphql?${search}`)).toEqual({
        status: 400,
        type: "application/json; charset=utf-8",
        body: refusedOperation(`The parameter ${name} is not valid JSON.`),
      });
    }
    expect(app.logged.filter((line) => line.includes('"level":50'))).toEqual([]);
  });
});

test.each([
  ["query", "{__typename}"],
  ["operationName", "A"],
  ["variables", "{}"],
  ["extensions", "{}"],
  ["documentId", "a"],
])("a repeated parameter of a GET is a bad request: %s", async (name, value) => {
  const search = new URLSearchParams([
    ["query", "query A { __typename }"],
    [name, value],
    [name, value],
  ]);
  if (name === "query") search.delete("query", "query A { __typename }");
  for (const accept of ["application/json", "text/event-stream"]) {
    const response = await store.fetch(`/graphql?${search}`, { headers: { accept } });
    const message = `${name} is given 2 times, not once.`;
    expect([response.status, (await response.json()).errors[0].message]).toEqual([400, message]);
  }
});

test("a POST has its parameters in the body: one in the URL is refused, which would have no effect", async () => {
  const body = JSON.stringify({ query: "query A { __typename } query B { store { id } }", operationName: "A" });
  const postTo = async (search: string) =>
    readAnswer(
      await store.fetch(`/graphql?${search}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      }),
    );
  for (const name of ["query", "operationName", "variables", "extensions", "documentId"]) {
    expect(await postTo(`${name}=B`)).toMatchObject({
      status: 400,
      body: refusedOperation(`${name} belongs in the body.`),
    });
  }
  expect((await postTo("op=A&op=A")).status).toBe(200); // which clients add for logs
});

test("an id as a number is taken where it is exact, and otherwise refused: it would name another object", async () => {
  await store.post("/external/product/v1", { product: product("9007199254740991") });
  const query = "query ($ids: [ID!]) { products(ids: $ids) { totalCount } }";
  const send = async (ids: string) => {
    const body = `{"query":${JSON.stringify(query)},"variables":{"ids":${ids}}}`;
    const options = { method: "POST", headers: { "content-type": "application/json" }, body };
    return readAnswer(await store.fetch("/graphql", options));
  };
  const found = { status: 200, body: { data: { products: { totalCount: 1 } } } };
  expect(await send("[9007199254740991]")).toMatchObject(found);
  expect(await send("9007199254740991")).toMatchObject(found);
  for (const beyond of ["9007199254740993", "-9007199254740992", "12345678901234567890", "1e30"]) {
    const message = "ids[0] is an integer beyond 2^53 - 1, which JSON does not keep exactly: send it as a text.";
    const problem = { code: "INVALID_TYPE", message, path: ["ids", 0] };
    expect(await send(`[${beyond}]`)).toMatchObject({ body: { errors: [{ extensions: { errors: [problem] } }] } });
  }
  const literal = "{ products(ids: [9007199254740993]) { totalCount } }"; // texts of a document are exact
  expect((await store.graphql(literal)).data.products.totalCount).toBe(0);
});

const two = "query One { store { id } } query Two { store { name } }";

describe("an operation that is not found is a bad request that says why", () => {
  test.each([
    ["for an unknown name", { query: two, operationName: "Three" }, 'Unknown operation named "Three".'],
    [
      "for an unknown name of one",
      { query: "{ store { id } }", operationName: "Three" },
      'Unknown operation named "Three".',
    ],
    ["for no name of two", { query: two }, "Must provide operation name if query contains multiple operations."],
    [
      "for an empty name of two",
      { query: two, operationName: "" },
      "Must provide operation name if query contains multiple operations.",
    ],
    ["for a text that has none", { query: "fragment F on Product { id }" }, "Must provide an operation."],
  ])("%s", async (_, body, message) => {
    for (const accept of ["application/json", "application/graphql-response+json", "text/event-stream"]) {
      const isStream = accept === "text/event-stream";
      const options = {
        method: "POST",
        headers: { "content-type": "application/json", accept },
        body: JSON.stringify(body),
      };
      const posted = await store.fetch("/graphql", options);
      const got = await store.fetch(`/graphql?${new URLSearchParams(body)}`, { headers: { accept } });
      for (const answer of [posted, got]) {
        expect([accept, answer.status]).toEqual([accept, 400]);
        const text = await answer.text();
        expect(JSON.parse(isStream ? (/\{.*\}/u.exec(text)?.[0] ?? "") : text)).toEqual(refusedOperation(message));
      }
    }
  });
});

test("an empty operation name is none", async () => {
  for (let use = 0; use < 4; use += 1) {
    const body = { query: "query Named { store { name } }", operationName: "" };
    expect(await store.post("/graphql", body)).toMatchObject({ status: 200, body: { data: { store: {} } } });
    expect(await store.get(`/graphql?${new URLSearchParams(body)}`)).toMatchObject({ status: 200 });
  }
});
