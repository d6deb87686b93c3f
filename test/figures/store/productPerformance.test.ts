import { expect, test } from "vitest";
import { issueToken } from "../../../src/stores/token.js";
import { createTestStore, openTestApp, storeAt, testDatabase } from "../../support/app.js";
import { order } from "../../support/events.js";
import { product } from "../../support/products.js";
import { limitHeaders, sendGraphQL } from "../../support/access/rateLimit.js";
import { recorded, saved } from "../../support/shows.js";

const statements: string[] = [];
const app = await openTestApp(
  {},
  testDatabase((sql) => statements.push(sql)),
);

const may = `from: "2026-05-01T00:00:00Z", until: "2026-06-01T00:00:00Z"`;

/** A store with products, each ordered in two shows, and one that the catalog does not have. */
async function storeWithOrders() {
  const store = await createTestStore(app);
  const ids = ["a", "b", "c"];
  const products = ids.map((id) => product(id));
  await store.graphql("mutation ($p: [ProductInput!]!) { importProducts(products: $p) { message } }", { p: products });
  for (let n = 0; n < 2; n += 1) {
    const { id } = await saved(store);
    const events = [...ids, "gone"].map((productId, index) =>
      order(productId, 10 + index, { productId, occurredAt: "2026-05-05T00:00:00Z" }),
    );
    await recorded(store, id, events);
  }
  return store;
}

test("a page and its products are read by one statement each, as one analytics read", async () => {
  const store = await storeWithOrders();
  statements.length = 0;
  const query = `{ productPerformance(${may}, first: 3) { nodes { sales product { id performance { shows } } } } }`;
  const { data } = await store.graphql(query);
  const performance = { shows: 2 };
  expect(data.productPerformance.nodes).toEqual([
    { sales: 26, product: null },
    { sales: 24, product: { id: "c", performance } },
    { sales: 22, product: { id: "b", performance } },
  ]);
  const sent = (part: string) => statements.filter((sql) => sql.includes(part) && !sql.includes("INSERT"));
  expect(sent(`"ShowProductSpan"`)).toHaveLength(2);
  expect(sent("product_by_id_or_sku")).toHaveLength(1);
  expect(limitHeaders(await sendGraphQL(store, query.replace("first: 3", "first: 2")))[1]).toMatch(`"analytics";r=98;`);
});

test("the performance of a page of products is read by one statement for each range, as one analytics read", async () => {
  const store = await storeWithOrders();
  statements.length = 0;
  const query = `{ products { nodes {
    id performance { sales } march: performance(until: "2026-05-01T00:00:00Z") { productId sales shows }
  } } }`;
  const { data } = await store.graphql(query);
  expect(data.products.nodes).toEqual(
    ["a", "b", "c"].map((id, n) => ({
      id,
      performance: { sales: 20 + 2 * n },
      march: { productId: id, sales: 0, shows: 0 },
    })),
  );
  expect(statements.filter((sql) => sql.includes(`"ShowProductSpan"`))).toHaveLength(2);
  expect(limitHeaders(await sendGraphQL(store, query.replace("first: 3", "first: 2")))[1]).toMatch(`"analytics";r=98;`);
});

test("without catalog:read products are refused, and without analytics:read figures", async () => {
  const store = await storeWithOrders();
  const as = async (scope: "analytics:read" | "catalog:read", query: string) => {
    const { token } = await issueToken(app.db, store.id, { scopes: [scope] });
    const { data, errors } = await storeAt(app.url, { id: store.id, token }).graphql(query);
    return [data, errors?.map(({ extensions }) => extensions.code)];
  };
  const query = `{ productPerformance(${may}, first: 1) { nodes { productId product { id } } } }`;
  expect(await as("analytics:read", query)).toEqual([
    { productPerformance: { nodes: [{ productId: "gone", product: null }] } },
    ["FORBIDDEN"],
  ]);
  expect(await as("catalog:read", `{ products(first: 1) { nodes { id performance { sales } } } }`)).toEqual([
    { products: { nodes: [{ id: "a", performance: null }] } },
    ["FORBIDDEN"],
  ]);
});

test.each<readonly [query: string, path: string, message: string]>([
  [
    `productPerformance(from: "2026-05-02T00:00:00Z", until: "2026-05-01T00:00:00Z") { totalCount }`,
    "until",
    "until must be at or after from, not 2026-05-01T00:00:00.000Z.",
  ],
  [
    `productPerformance(from: "2020-05-02T00:00:00Z", until: "2026-05-01T00:00:00Z") { totalCount }`,
    "until",
    "until must be at most 5 years after from, not 2026-05-01T00:00:00.000Z.",
  ],
  [`productPerformance(${may}, first: 101) { totalCount }`, "first", "first must be from 0 to 100, not 101."],
  [
    `productPerformance(${may}, after: "${cursor("SALES", "5", "a")}", orderBy: CARTS) { totalCount }`,
    "after",
    "after must be a cursor of this list in the same order.",
  ],
  [
    `productPerformance(${may}, after: "${cursor("SALES", "NaN", "a")}") { totalCount }`,
    "after",
    "after must be a cursor of this list in the same order.",
  ],
])("%s is refused with its path", async (query, path, message) => {
  const store = await createTestStore(app);
  const { errors } = (await (await sendGraphQL(store, `{ ${query} }`)).json()) as { errors: any[] };
  expect(errors[0].extensions).toMatchObject({
    code: "VALIDATION_FAILED",
    errors: [{ code: "VALIDATION_FAILED", path: [path], message }],
  });
});

function cursor(...parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}
