import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../support/app.js";
import { readAnswer } from "../support/call.js";
import { refusedOperation } from "../support/problems.js";

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
