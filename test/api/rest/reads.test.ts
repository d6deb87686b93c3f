import { print } from "graphql";
import { beforeAll, describe, expect, test } from "vitest";
import { schema } from "../../../src/api/graphql/schema.js";
import { planRest } from "../../../src/api/rest/routes/derivation.js";
import { issueToken } from "../../../src/stores/token.js";
import { createTestStore, openTestApp, storeAt, type TestStore } from "../../support/app.js";
import { order, view } from "../../support/events.js";
import { paths, product, products, readProduct } from "../../support/products.js";
import { recorded, saved } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });
const operations = new Map((await planRest(schema)).map((operation) => [operation.operationId, operation]));

const analytics = "/external/analytics/v1";
const show = `${analytics}/live-streams/show`;
const range = { from: "2026-01-01T00:00:00Z", until: "2027-01-01T00:00:00Z" };

let store: TestStore;
beforeAll(async () => {
  store = await createTestStore(app);
  const shirt = product("shirt", { price: 59.9, description: "Linen", images: ["https://shop.example/1.jpg"] });
  await store.post(paths.bulk, { products: [...products(30), shirt] });
  for (const id of ["show", "other"]) {
    await saved(store, { id, startedAt: "2026-05-04T18:30:00.000Z" });
    await recorded(store, id, [
      view("e1", { device: "mobile", occurredAt: "2026-05-04T18:31:00.000Z" }),
      view("e2", { viewerId: "v2", channel: "REPLAY", occurredAt: "2026-05-04T18:35:00.000Z" }),
      order("e3", 59.9, { productId: "shirt", occurredAt: "2026-05-04T18:36:00.000Z" }),
      { id: "e5", type: "ADD_TO_CART", channel: "LIVE", viewerId: "v1", productId: "shirt" },
      order("e4", 10, { productId: "p00001", channel: "REFERRAL", occurredAt: "2026-05-05T18:36:00.000Z" }),
    ]);
  }
});

/** What GraphQL answers to the operation of a path. */
async function byGraphQL(operationId: string, variables: object): Promise<any> {
  const { document, operation = "" } = operations.get(operationId) ?? {};
  const { data, errors } = await store.graphql(document === undefined ? "" : print(document), variables);
  return errors ?? data[operation];
}

const urlOf = (path: string, parameters: object) => {
  const query = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
  return `${path}?${query.toString()}`;
};

describe("each path answers as GraphQL does, with the arguments of its query string", () => {
  test.each([
    ["listProducts", paths.one, {}, {}],
    [
      "listProducts",
      paths.one,
      {},
      { first: 3, search: "title", available: true, priceMin: 1, priceMax: 100, orderBy: "PRICE", direction: "ASC" },
    ],
    ["listLiveStreams", `${analytics}/live-streams`, {}, {}],
    [
      "listLiveStreams",
      `${analytics}/live-streams`,
      {},
      { ...range, first: 1, status: "ENDED", search: "show", host: "Robin Host", orderBy: "SALES", direction: "ASC" },
    ],
    ["getLiveStream", `${show}/show`, { lsId: "show" }, {}],
    ["getLiveStreamKpis", `${show}/kpis`, { lsId: "show" }, {}],
    ["getLiveStreamTimeline", `${show}/timeline`, { lsId: "show" }, {}],
    [
      "getLiveStreamTimeline",
      `${show}/timeline`,
      { lsId: "show" },
      { bucketSeconds: 600, from: "2026-05-04T18:30:00Z", until: "2026-05-05T18:30:00Z" },
    ],
    ["getLiveStreamTopProducts", `${show}/top-products`, { lsId: "show" }, {}],
    ["getLiveStreamTopProducts", `${show}/top-products`, { lsId: "show" }, { first: 1, by: "SALES" }],
    ["getStoreAnalytics", `${analytics}/store`, {}, range],
    [
      "getStoreAnalytics",
      `${analytics}/store`,
      {},
      { ...range, timeZone: "Europe/Berlin", bucket: "WEEK", first: 1, by: "VIEWERS" },
    ],
    ["listProductPerformance", `${analytics}/products`, {}, range],
    ["listProductPerformance", `${analytics}/products`, {}, { ...range, first: 1, orderBy: "CARTS" }],
    ["getStore", "/external/store/v1", {}, {}],
  ])("%s %s %j %j", async (operationId, path, inPath, parameters) => {
    const expected = await byGraphQL(operationId, { ...inPath, ...parameters });
    expect(expected).toEqual(expect.any(Object));
    expect(await store.get(urlOf(path, parameters))).toEqual({
      status: 200,
      type: "application/json; charset=utf-8",
      body: expected,
    });
  });
});

test("a list of products has all of their fields but those that are read on other paths, and goes on after its cursor", async () => {
  const { body: first } = await store.get(`${paths.one}?first=30`);
  expect(first).toMatchObject({ totalCount: 31, totalCountIsExact: true, pageInfo: { hasNextPage: true } });
  const { body: second } = await store.get(`${paths.one}?first=30&after=${first.pageInfo.endCursor}`);
  expect(second).toEqual({
    nodes: [
      {
        ...readProduct(product("shirt", { price: 59.9, description: "Linen", images: ["https://shop.example/1.jpg"] })),
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    ],
    pageInfo: { hasNextPage: false, endCursor: expect.any(String) },
    totalCount: 31,
    totalCountIsExact: true,
  });
});

test("figures have all KPIs, their referral channel, and no fields that another path has", async () => {
  const { body } = await store.get(`${show}/kpis`);
  expect(body.kpis.sales).toEqual({ live: 59.9, replay: 0, referral: 10, total: 69.9, currency: null });
  expect(Object.keys(body.kpis)).toEqual(
    Object.keys((schema.getType("Kpis") as unknown as { getFields(): object }).getFields()),
  );
  const { body: figures } = await store.get(urlOf(`${analytics}/store`, range));
  expect(Object.keys(figures)).toEqual([
    "from",
    "until",
    "currency",
    "showCount",
    "kpis",
    "timeline",
    "topShows",
    "previous",
    "unattributed",
    "attribution",
  ]);
  expect(Object.keys(figures.previous)).toEqual([
    "from",
    "until",
    "currency",
    "showCount",
    "kpis",
    "unattributed",
    "attribution",
  ]);
  const { peakConcurrentViewers: _, devicesByChannel: __, watchingNow, kpis, ...ofShow } = body;
  expect(watchingNow).toBeNull();
  const { devices, sources, buyers, buyerRate, ordersWithoutViewer, engagedViewers, ...figuresOfShow } = kpis;
  expect([devices, sources, buyers, buyerRate, ordersWithoutViewer, engagedViewers]).not.toContain(undefined);
  expect(figures.topShows).toEqual(["other", "show"].map((id) => ({ ...ofShow, id, kpis: figuresOfShow })));
});

describe("what GraphQL refuses is refused", () => {
  test.each([
    [paths.one, "first=101", 400, "first must be from 0 to 100, not 101."],
    [paths.one, "after=x", 400, "after must be a cursor of this list."],
    [paths.one, "orderBy=WEIGHT", 400, 'orderBy must be one of ID, TITLE, PRICE, UPDATED_AT, not "WEIGHT".'],
    [paths.one, "siteId=nowhere", 400, /^The store has no site with this siteId\./u],
    [`${analytics}/live-streams`, "first=101&status=ENDED", 400, "first must be from 0 to 100, not 101."],
    [`${analytics}/live-streams`, "first=x&status=OVER", 400, "2 problems. Nothing was stored."],
    [`${show}/timeline`, "bucketSeconds=61", 400, /bucketSeconds/u],
    [`${analytics}/store`, "", 400, "2 problems. Nothing was stored."],
    [`${analytics}/store`, "from=2026-01-01T00:00:00Z&until=x", 400, /^until must be/u],
    [`${analytics}/products`, "from=2026-01-01T00:00:00Z", 400, "until is required."],
  ])("%s?%s", async (path, query, status, message) => {
    const { body, ...answer } = await store.get(`${path}?${query}`);
    expect({ ...answer, detail: body.detail }).toEqual({
      status,
      type: "application/problem+json",
      detail: typeof message === "string" ? message : expect.stringMatching(message),
    });
  });
});

test("a read of figures counts once, whatever is in it, and one of a show's own fields does not", async () => {
  const limited = await openTestApp({ analyticsRateLimit: 4 });
  const own = await createTestStore(limited);
  await saved(own, { id: "show" });
  const counted = [`${show}/kpis`, `${show}/timeline`, urlOf(`${analytics}/store`, range)];
  for (const path of [`${show}/show`, ...counted, urlOf(`${analytics}/products`, range), `${show}/show`]) {
    expect(await own.get(path)).toMatchObject({ status: 200 });
  }
  // An equal read over the store would share the one before (docs/analytics.md).
  for (const path of [
    `${show}/kpis`,
    `${show}/timeline`,
    urlOf(`${analytics}/store`, range).replace("2026-01-01", "2026-01-02"),
    `${show}/top-products`,
  ]) {
    const response = await own.fetch(path);
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/u)]);
  }
});

test("products beside figures need the scope of the catalog as well, and the refusal names it", async () => {
  const { token } = await issueToken(app.db, store.id, { scopes: ["analytics:read"] });
  const reader = storeAt(app.url, { id: store.id, token });
  for (const path of [`${show}/top-products`, urlOf(`${analytics}/products`, range)]) {
    const { status, body } = await reader.get(path);
    expect([path, status, body.detail]).toEqual([path, 403, expect.stringContaining("catalog:read")]);
  }
  for (const path of [`${show}/kpis`, `${show}/timeline`, urlOf(`${analytics}/store`, range)]) {
    expect(await reader.get(path)).toMatchObject({ status: 200 });
  }
});
