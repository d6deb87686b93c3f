import { beforeAll, expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { product } from "../../support/products.js";
import { record, saved } from "../../support/shows.js";

// From its third use on, an operation may run as code that graphql-jit makes of it. Each of these once answered, or stored,
// something else from then on.

const app = await openTestApp({ analyticsRateLimit: 0 });
const usesTried = 5;
let store: TestStore;
beforeAll(async () => {
  store = await createTestStore(app);
  await store.post("/external/product/v1", { product: product("a") });
  await saved(store, { id: "show" });
});

/** The answers of one operation, which is sent again and again. */
async function answersTo(query: string, variables: object = {}) {
  const answers: unknown[] = [];
  for (let use = 0; use < usesTried; use += 1) answers.push(await store.graphql(query, variables));
  return answers;
}

/** How the operations of the last requests were executed, by the access log. */
async function executionsOf(query: string, variables: object = {}) {
  const before = app.accessLog.length;
  await answersTo(query, variables);
  await expect.poll(() => app.accessLog.length).toBe(before + usesTried);
  return app.accessLog.slice(before).map((line) => JSON.parse(line).execution);
}

const repeated = <Answer>(answer: Answer): Answer[] => Array.from({ length: usesTried }, () => answer);

test("a variable that is not sent leaves the field of a patch as it is", async () => {
  await store.post("/external/product/v1", { product: product("kept", { description: "Kept", price: 1 }) });
  const patch = `mutation ($price: Float, $description: String) {
    patchProducts(products: [{id: "kept", price: $price, description: $description}]) { updated }
  }`;
  expect(await answersTo(patch, { price: 2 })).toEqual(repeated({ data: { patchProducts: { updated: 1 } } }));
  const { data } = await store.graphql('{ product(productId: "kept") { price description } }');
  expect(data.product).toEqual({ price: 2, description: "Kept" });
});

test("a mutation goes on after a field that fails, and answers what was stored", async () => {
  const query = `mutation {
    first: deleteProduct(productId: "first") { id }
    second: saveLiveStream(liveStream: {id: "", name: "B", status: ENDED, startedAt: "2026-05-04T18:30:00Z", durationSeconds: 5}) { id }
    third: saveLiveStream(liveStream: {id: "third", name: "C", status: ENDED, startedAt: "2026-05-04T18:30:00Z", durationSeconds: 5}) { name }
  }`;
  for (let use = 0; use < usesTried; use += 1) {
    await store.post("/external/product/v1", { product: product("first") });
    const { data, errors } = await store.graphql(query);
    expect(data).toEqual({ first: { id: "first" }, second: null, third: { name: "C" } });
    expect(errors?.map(({ path }) => path)).toEqual([["second"]]);
  }
});

test("a fragment that is spread twice, once under a false condition, gives its fields", async () => {
  const query = `query ($id: String!, $no: Boolean!) {
    product(productId: $id) { ...F @include(if: $no) ...F }
  } fragment F on Product { sku title }`;
  expect(await answersTo(query, { id: "a", no: false })).toEqual(
    repeated({ data: { product: { sku: "sku-a", title: "Title a" } } }),
  );
  const mutation = `mutation { saveLiveStream(liveStream: {id: "twice", name: "B", status: ENDED, startedAt: "2026-05-04T18:30:00Z",
    durationSeconds: 5}) { ...S @skip(if: true) ...S } } fragment S on LiveStream { name }`;
  expect(await answersTo(mutation)).toEqual(repeated({ data: { saveLiveStream: { name: "B" } } }));
});

test("null for a variable with a default is refused where null is not allowed, and at once", async () => {
  const query = `mutation ($type: ShopperEventType = VIEW) {
    recordShopperEvents(lsId: "show", events: [{id: "e", type: $type, channel: LIVE, viewerId: "v"}]) { accepted }
  }`;
  // Each once waited 5 seconds for other requests.
  for (const answer of await answersTo(query, { type: null })) {
    expect(answer).toMatchObject({
      data: { recordShopperEvents: null },
      errors: [{ path: ["recordShopperEvents"], extensions: { code: "VALIDATION_FAILED" } }],
    });
  }
});

test("null for a list variable with a default is refused where null is not allowed, at each use", async () => {
  for (const [field, item] of [
    ['recordShopperEvents(lsId: "show", events: $list) { accepted }', "ShopperEventInput"],
    ["recordOrders(orders: $list) { accepted }", "OrderInput"],
    ["importProducts(products: $list) { imported }", "ProductInput"],
    ["patchProducts(products: $list) { updated }", "ProductPatchInput"],
  ]) {
    const name = field?.split("(")[0] ?? "";
    for (const answer of await answersTo(`mutation ($list: [${item}!] = []) { ${field} }`, { list: null })) {
      expect(answer).toMatchObject({
        data: { [name]: null },
        errors: [{ path: [name], extensions: { code: "VALIDATION_FAILED" } }],
      });
    }
  }
});

test("null for a condition's variable with a default is an error, and names of objects are names like others", async () => {
  const skipped = 'query ($s: Boolean = true) { product(productId: "a") { sku title @skip(if: $s) } }';
  const [first, ...others] = await answersTo(skipped, { s: null });
  expect(first).toMatchObject({ errors: [{ extensions: { code: "VALIDATION_FAILED" } }] });
  expect(others).toEqual(others.map(() => first));
  const named =
    "query ($toString: String!, $constructor: String) { product(productId: $toString, siteType: $constructor) { sku } }";
  expect(await answersTo(named, { toString: "a" })).toEqual(repeated({ data: { product: { sku: "sku-a" } } }));
});

test("a text of a caller never becomes code", async () => {
  const magic = "__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d";
  const query = `{ products(search: "${magic}(globalThis.isCompromised = true)") { totalCount } }`;
  expect(await answersTo(query)).toEqual(repeated({ data: { products: { totalCount: 0 } } }));
  expect(globalThis).not.toHaveProperty("isCompromised");
});

test("a subscription without its field is refused", async () => {
  const query = 'subscription { liveStreamAnalytics(lsId: "show") @skip(if: true) { id } }';
  const response = await store.fetch("/graphql", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ query }),
  });
  expect(await response.text()).toContain("The field of a subscription must not have @skip or @include.");
});

test("the access log says how an operation was executed", async () => {
  const query = "query ($id: String!) { product(productId: $id) { sku } }";
  expect(await executionsOf(query, { id: "a" })).toEqual(["yoga", "interpreted", "compiled", "compiled", "compiled"]);
  expect(await executionsOf('{ product(productId: "a") { sku } }')).toEqual(["yoga", ...Array(4).fill("interpreted")]);
  const events = [{ id: "x", type: "VIEW", channel: "LIVE", viewerId: "v" }];
  const variables = { lsId: "show", events };
  expect(await executionsOf(record, variables)).toEqual(["yoga", "interpreted", "compiled", "compiled", "compiled"]);
  const both = `mutation ($lsId: String!, $events: [ShopperEventInput!]!) {
    one: recordShopperEvents(lsId: $lsId, events: $events) { accepted }
    other: recordShopperEvents(lsId: $lsId, events: $events) { accepted }
  }`;
  expect(await executionsOf(both, variables)).toEqual(["yoga", ...Array(4).fill("interpreted")]);
});
