import { expect, test } from "vitest";
import { operationsOf } from "../../support/http/openapi.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { graphqlError, refusal } from "../../support/problems.js";
import { importOne, paths, product, storedKeys } from "../../support/products.js";
import { saved } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });
const store = await createTestStore(app);

const key = { "Idempotency-Key": "k1" };
const json = { "content-type": "application/json" };
const message =
  "This call takes no Idempotency-Key. Imports do: POST below /external/product/v1, and the mutations importProduct, importProducts, importProductsCsv, patchProducts.";
const refused = refusal("BAD_REQUEST", message);

test("every call of REST that takes no Idempotency-Key refuses one, and changes nothing", async () => {
  await store.post(paths.one, { product: product("kept") });
  await saved(store, { id: "kept" });
  const document = await (await fetch(`${app.url}/openapi.json`)).json();
  const others = operationsOf(document).filter(({ method, path }) => method !== "POST" || !path.includes("product"));
  expect(others.length).toBeGreaterThan(10);
  for (const { method, path } of others) {
    const url = path.replaceAll(/\{\w+\}/gu, "kept");
    const body = method === "PUT" || method === "POST" ? { body: "{}" } : {};
    const response = await store.fetch(url, { method, headers: { ...json, ...key }, ...body });
    expect({ method, path, ...(await readAnswer(response)) }).toEqual({ method, path, ...refused });
  }
  expect(await storedKeys(app, store)).toEqual({ kept: "sku-kept" });
});

test("GraphQL refuses one beside queries, other mutations and subscriptions, by POST and GET", async () => {
  const ask = async (query: string, headers = {}) => {
    const body = JSON.stringify({ query, variables: { product: product("imported") } });
    return readAnswer(
      await store.fetch("/graphql", { method: "POST", headers: { ...json, ...key, ...headers }, body }),
    );
  };
  const answer = { errors: [graphqlError("BAD_REQUEST", message)] };
  const query = "{ store { name } }";
  const subscription = `subscription { liveStreamAnalytics(lsId: "kept") { id } }`;
  for (const text of [query, query, query, query, `mutation { deleteProduct(productId: "kept") { message } }`]) {
    expect((await ask(text)).body).toMatchObject(answer);
  }
  expect((await ask(subscription, { accept: "text/event-stream" })).body).toEqual(answer);
  const get = await store.fetch(`/graphql?query=${encodeURIComponent(query)}`, { headers: key });
  expect(await get.json()).toEqual(answer);
  expect((await ask(importOne)).body.data.importProduct).toMatchObject({ imported: 1 });
  expect(await storedKeys(app, store)).toEqual({ imported: "sku-imported", kept: "sku-kept" });
});
