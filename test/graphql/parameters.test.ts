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

describe("an unknown member of a GraphQL request is a bad request", () => {
  test.each([
    ["that a promise has", `"then":{}`, "then"],
    ["that a promise of others has", `"then":"x","catch":"x","finally":"x"`, "then"],
    ["that a response has", `"status":200,"headers":{"x-injected":"1"}`, "status"],
    ["that an object has anyway", `"__proto__":{"query":"x"}`, "__proto__"],
    ["with a long name, which is not repeated whole", `"${"x".repeat(100_000)}":1`, `${"x".repeat(60)}…`],
  ])("%s", async (_, members, name) => {
    expect(await post(members)).toEqual({
      status: 400,
      type: "application/json; charset=utf-8",
      body: refusedOperation(`Unexpected parameter "${name}" in the request body.`),
    });
    expect(app.logged).toEqual([]);
  });

  test("unless it is null", async () => {
    const answer = await post(`"then":null,"status":null,"headers":null`);
    expect(answer).toMatchObject({ status: 200, body: { data: { __typename: "Query" } } });
  });
});

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
