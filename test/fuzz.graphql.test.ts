import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { schema } from "../src/graphql/schema.js";
import { createTestStore, startApp, type TestApp, type TestStore } from "./support/app.js";
import { checkedGraphQL } from "./support/fuzz.answers.js";
import { garbled, requestsOf } from "./support/fuzz.documents.js";
import { createFuzzer, fuzzTimeoutMs, harmDone } from "./support/fuzz.js";
import { product, products } from "./support/products.js";
import { record, saved } from "./support/shows.js";
import { digestOf } from "./support/stored.js";

let app: TestApp;
let store: TestStore;
const fuzzer = createFuzzer("GraphQL documents");
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

test(
  "whatever a query asks for, its answer is well-formed, and the same from Yoga, from the fast lane, and compiled",
  async () => {
    const before = await digestOf(app, store);
    const property = fc.asyncProperty(requests, async (request) => {
      const call = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(request) };
      const [yoga, ...others] = [
        await fuzzer.send(app, store, { ...call, path: "/graphql?lane=yoga" }),
        await fuzzer.send(app, store, { ...call, path: "/graphql" }),
        await fuzzer.send(app, store, { ...call, path: "/graphql" }),
        await fuzzer.send(app, store, { ...call, path: "/graphql" }),
      ] as const;
      const expected = { status: yoga.status, body: checkedGraphQL(yoga) };
      for (const answer of others) expect({ status: answer.status, body: checkedGraphQL(answer) }).toEqual(expected);
    });
    await fuzzer.hold(property, 150);
    expect(await digestOf(app, store)).toBe(before);
    expect(harmDone(app)).toEqual([]);
  },
  fuzzTimeoutMs,
);
