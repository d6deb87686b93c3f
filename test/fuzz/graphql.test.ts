import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { schema } from "../../src/api/graphql/schema.js";
import { createTestStore, startApp, type TestApp, type TestStore } from "../support/app.js";
import { checkedGraphQL } from "../support/fuzz/fuzz.answers.js";
import { garbled, requestsOf } from "../support/fuzz/fuzz.documents.js";
import { harmDone, type RawAnswer, sendRaw } from "../support/fuzz/fuzz.js";
import { product, products } from "../support/products.js";
import { record, saved } from "../support/shows.js";
import { digestOf } from "../support/stored.js";

let app: TestApp;
let store: TestStore;
beforeAll(async () => {
  app = await startApp({ analyticsRateLimit: 0 });
  store = await createTestStore(app);
  await store.post("/external/product/v1/bulk", { products: [product("a", { price: 0.1 }), ...products(3)] });
  await saved(store, { id: "show" });
  await saved(store, { id: "a" });
  await store.graphql(record, {
    lsId: "a",
    events: [{ id: "0", type: "VIEW", channel: "LIVE", viewerId: "v", productId: "a" }],
  });
});
afterAll(() => app.close());

const requests = requestsOf(schema).chain(({ query, ...others }) =>
  garbled(query).map((text) => ({ query: text, ...others })),
);

/** Which of several errors is reported is left to chance, and places of fields that are skipped may be missing. */
function outcomeOf(answer: RawAnswer) {
  const { data, errors } = checkedGraphQL(answer);
  return { status: answer.status, data, failed: errors !== undefined };
}

test("whatever a query asks for, its answer is well-formed, and the same from Yoga, from the fast path, and compiled", async () => {
  const before = await digestOf(app, store);
  const property = fc.asyncProperty(requests, async (request) => {
    const call = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(request) };
    const [yoga, ...others] = [
      await sendRaw(app, store, { ...call, path: "/graphql?lane=yoga" }),
      await sendRaw(app, store, { ...call, path: "/graphql" }),
      await sendRaw(app, store, { ...call, path: "/graphql" }),
      await sendRaw(app, store, { ...call, path: "/graphql" }),
    ] as const;
    for (const answer of others) expect(outcomeOf(answer)).toEqual(outcomeOf(yoga));
  });
  await fc.assert(property);
  expect(await digestOf(app, store)).toBe(before);
  expect(harmDone(app)).toEqual([]);
});
