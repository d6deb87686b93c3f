import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestStore, startApp, type TestApp, type TestStore } from "./support/app.js";
import { refusedOperation } from "./support/problems.js";

let app: TestApp;
let store: TestStore;
beforeAll(async () => {
  app = await startApp();
  store = await createTestStore(app);
});
afterAll(() => app.close());

const query = "{ __typename }";
const long = "x".repeat(100_000);

describe("a member that no GraphQL request has is a bad request", () => {
  test.each<[string, object, string]>([
    ["that a promise has", { query, then: {} }, "then"],
    ["of a promise that would never end", { query, then: "x", catch: "x", finally: "x" }, "then"],
    ["that a response has", { query, status: 200, headers: { "x-injected": "1" } }, "status"],
    ["that an object has anyway", JSON.parse(`{"query":"${query}","__proto__":{"query":"x"}}`), "__proto__"],
    ["with a long name, which is not repeated whole", { query, [long]: 1 }, `${"x".repeat(60)}…`],
  ])("%s", async (_, body, name) => {
    expect(await store.post("/graphql", body)).toEqual({
      status: 400,
      type: "application/json; charset=utf-8",
      body: refusedOperation(`Unexpected parameter "${name}" in the request body.`),
    });
    expect(app.logged).toEqual([]);
  });

  test("unless it is null", async () => {
    const body = { query, then: null, status: null, headers: null };
    expect(await store.post("/graphql", body)).toMatchObject({ status: 200, body: { data: { __typename: "Query" } } });
  });
});
