import { beforeAll, describe, expect, test } from "vitest";
import { addSite } from "../../src/access/stores/site.js";
import { schema } from "../../src/graphql/schema.js";
import { restBase } from "../../src/rest/routes/route.js";
import { restRoutes } from "../../src/rest/routes/routes.js";
import { createTestStore, openTestApp, type TestStore } from "../support/app.js";
import { toCsv } from "../support/catalog/csv.js";
import { order, view } from "../support/events.js";
import {
  type Ask,
  type Case,
  listShows,
  listShowsBySales,
  operation,
  orderCases,
  type Names,
  readCases,
  readPerformance,
  readStore,
} from "../support/access/isolation.js";
import { recordedOrders, sentOrder } from "../support/figures/orders.js";
import { importMany, importOne, paths, product, products, storedProducts } from "../support/products.js";
import { analyticsPath, deleteShow, readAnalytics, record, recorded, saved, saveShow, show } from "../support/shows.js";
import { everythingOf } from "../support/stored.js";
import { subscribe } from "../support/http/subscribe.js";

const app = await openTestApp({ analyticsRateLimit: 0, subscriptionRateLimit: 0 });

const siteType = "SHOP";
const showsPath = "/external/analytics/v1/live-streams";
const noProduct = `"code":"PRODUCT_NOT_FOUND"`;
const noSite = `"code":"SITE_NOT_FOUND"`;
const noShow = `"code":"LIVE_STREAM_NOT_FOUND"`;
const created = `"imported":1,"created":1,"updated":0`;
/** The stranger's own product and show, which come after the owner's in every list. */
const own = { id: "zz-own", lsId: "own-show" };
const ownNodes = (id: string) => `"nodes":[{"id":"${id}"}]`;

const unknown: Names = {
  id: "nothing",
  sku: "nothing-sku",
  siteId: "nowhere",
  lsId: "no-show",
  eventId: "no-event",
  word: "nonsense",
  after: cursor("nothing"),
  showAfter: cursor("2026-05-04T18:30:00.000Z", "no-show"),
};

function cursor(...key: readonly string[]): string {
  return Buffer.from(JSON.stringify(key)).toString("base64url");
}

const readProduct = `query ($productId: String!, $siteId: String, $siteType: String) {
  product(productId: $productId, siteId: $siteId, siteType: $siteType) { id sku title }
}`;
const deleteProduct = `mutation ($productId: String!, $siteId: String, $siteType: String) {
  deleteProduct(productId: $productId, siteId: $siteId, siteType: $siteType) { message }
}`;
const importCsv = `mutation ($csvContent: String!, $siteId: String, $siteType: String) {
  importProductsCsv(csvContent: $csvContent, siteId: $siteId, siteType: $siteType) { message imported created updated }
}`;
const patchMany = `mutation ($products: [ProductPatchInput!]!, $siteId: String, $siteType: String) {
  patchProducts(products: $products, siteId: $siteId, siteType: $siteType) { message imported created updated }
}`;
const listProducts = `query ($after: String, $search: String, $available: Boolean, $first: Int) {
  products(after: $after, search: $search, available: $available, first: $first) {
    nodes { id } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;
type ProductArguments = Readonly<Record<"productId", string> & Partial<Record<"siteId" | "siteType", string>>>;

/** Arguments that name a product, with the code of the answer: by id, by sku, and anything under a site. */
function productArguments({ id, sku, siteId }: Names): [ProductArguments, string][] {
  return [
    [{ productId: id }, noProduct],
    [{ productId: sku }, noProduct],
    [{ productId: id, siteId }, noSite],
    [{ productId: own.id, siteId, siteType }, noSite],
  ];
}

function productPath({ productId, ...query }: ProductArguments): string {
  return `${paths.of(productId)}?${new URLSearchParams(query).toString()}`;
}

const sentProduct = ({ id, sku }: Names) => product(id, { sku, title: "Ours" });

/** The ways to import a product, with the arguments that carry it. */
function imports(ask: (gets: string, args: object) => Ask, args: (names: Names) => object): Case {
  return {
    asks: (names) => [
      ask(noSite, { ...args(names), siteId: names.siteId }),
      ask(noSite, { ...args(names), siteId: names.siteId, siteType }),
      ask(created, args(names)),
    ],
    wrote: async (stranger) => {
      const stored = await storedProducts(app, stranger);
      expect(stored.map(({ id, sku, title, sites }) => [id, sku, title, sites])).toEqual([
        ["nothing", "nothing-sku", "Ours", []],
        ["shirt", "S-1", "Ours", []],
        [own.id, `sku-${own.id}`, "Own", []],
      ]);
    },
  };
}

const one = (names: Names) => ({ product: sentProduct(names) });
const many = (names: Names) => ({ products: [sentProduct(names)] });
const csv = (names: Names) => ({ csvContent: toCsv([sentProduct(names)]) });
const viaGraphQL = (query: string) => (gets: string, args: object) => operation(gets, query, args);
const posted =
  (path: string) =>
  (gets: string, body: object): Ask => ({ path, method: "POST", body, gets });

/** What a store asks by the names of another, for each operation of the schema and each documented path. */
const cases: Readonly<Record<string, Case>> = {
  "Query.product": {
    asks: (names) => productArguments(names).map(([args, gets]) => operation(gets, readProduct, args)),
  },
  "Query.products": {
    asks: ({ after, word, id, sku }) => [
      operation(ownNodes(own.id), listProducts, {}),
      operation(ownNodes(own.id), listProducts, { after }),
      operation(ownNodes(own.id), listProducts, { after, available: true, search: "own" }),
      operation(`"nodes":[]`, listProducts, { after, first: 0 }),
      ...[word, id, sku].map((search) => operation(`"nodes":[]`, listProducts, { search })),
      operation(`"nodes":[]`, listProducts, { search: word, after, available: true }),
    ],
  },
  "Query.store": { asks: () => [operation(`{"name":"Test store"}`, "{ store { name } }", {})] },
  "Query.liveStream": {
    asks: ({ lsId }) => [operation(noShow, "query ($lsId: String!) { liveStream(lsId: $lsId) { id } }", { lsId })],
  },
  "Query.liveStreams": {
    asks: ({ showAfter }) => [
      operation(ownNodes(own.lsId), listShows, {}),
      operation(ownNodes(own.lsId), listShows, { after: showAfter }),
      operation(ownNodes(own.lsId), listShows, { after: showAfter, status: "ENDED", first: 1 }),
      operation(`"nodes":[]`, listShows, { status: "LIVE" }),
      operation(`{${ownNodes(own.lsId)},"totalCount":1}`, listShowsBySales, {}),
    ],
  },
  "Query.liveStreamAnalytics": {
    asks: ({ lsId }) => [operation(noShow, readAnalytics, { lsId })],
  },
  "Query.storeAnalytics": {
    asks: () => [operation(`{"showCount":1,"topShows":[{"id":"${own.lsId}"}],"timeline":[]}`, readStore, {})],
  },
  "Query.productPerformance": { asks: () => [operation(`{"nodes":[],"totalCount":0}`, readPerformance, {})] },
  "Mutation.importProduct": imports(viaGraphQL(importOne), one),
  "Mutation.importProducts": imports(viaGraphQL(importMany), many),
  "Mutation.patchProducts": imports(viaGraphQL(patchMany), many),
  "Mutation.importProductsCsv": imports(viaGraphQL(importCsv), csv),
  "Mutation.deleteProduct": {
    asks: (names) => productArguments(names).map(([args, gets]) => operation(gets, deleteProduct, args)),
  },
  "Mutation.saveLiveStream": {
    asks: ({ lsId }) => {
      const query = saveShow.replace("{ id name", "{ name"); // the id is what was sent, and differs
      const liveStream = { ...show({ id: lsId, name: "Ours" }), host: null };
      return [operation(`"name":"Ours","status":"ENDED"`, query, { liveStream })];
    },
    wrote: async ({ id: storeId }) => {
      const shows = await app.db.liveStream.findMany({ where: { storeId }, orderBy: { id: "asc" } });
      expect(shows.map(({ id, name, status, hostName }) => [id, name, status, hostName])).toEqual([
        ["no-show", "Ours", "ENDED", null],
        [own.lsId, "Own", "ENDED", null],
        ["the-show", "Ours", "ENDED", null],
      ]);
    },
  },
  "Mutation.deleteLiveStream": {
    asks: ({ lsId }) => [operation(noShow, deleteShow, { lsId }), operation(noShow, deleteShow, { lsId, force: true })],
  },
  "Mutation.eraseViewer": { asks: () => [operation(`"shows":0`, `mutation{eraseViewer(viewerId:"v1"){shows}}`, {})] },
  "Mutation.recordShopperEvents": {
    asks: ({ lsId, eventId, id }) => [
      operation(noShow, record, { lsId, events: [order(eventId, 5)] }),
      operation(noShow, record, { lsId, events: [] }),
      // The same event id counts for the stranger's own show.
      operation(`"accepted":1,"duplicates":0`, record, {
        lsId: own.lsId,
        events: [order(eventId, 5, { productId: id, viewerId: "v1" })],
      }),
    ],
    wrote: async (stranger) => {
      const { data } = await stranger.graphql(readAnalytics, { lsId: own.lsId });
      expect(data.liveStreamAnalytics.kpis).toMatchObject({ orders: { total: 2 }, sales: { total: 10 } });
    },
  },
  "Subscription.liveStreamAnalytics": {
    asks: ({ lsId }) => [
      {
        ...operation(noShow, readAnalytics.replace("query", "subscription"), { lsId }),
        headers: { accept: "text/event-stream" },
      },
    ],
  },
  "POST /external/product/v1": imports(posted(paths.one), one),
  "POST /external/product/v1/bulk": imports(posted(paths.bulk), many),
  "POST /external/product/v1/bulk/csv": imports(posted(paths.csv), csv),
  "GET /external/product/v1/:productId": {
    asks: (names) => productArguments(names).map(([args, gets]) => ({ path: productPath(args), gets })),
  },
  "DELETE /external/product/v1/:productId": {
    asks: (names) =>
      productArguments(names).map(([args, gets]) => ({ path: productPath(args), method: "DELETE", gets })),
  },
  "GET /external/analytics/v1/live-streams/:lsId": {
    asks: ({ lsId }) => [{ path: analyticsPath(lsId), gets: noShow }],
  },
  "GET /external/analytics/v1/live-streams": {
    asks: ({ showAfter }) => [{ path: `${showsPath}?after=${showAfter}`, gets: `"nodes":[{"id":"${own.lsId}"` }],
  },
  ...readCases(own),
  ...orderCases,
  "PUT /external/analytics/v1/live-streams/:lsId": {
    asks: ({ lsId }) => [
      { path: analyticsPath(lsId), method: "PUT", body: { liveStream: { name: "Ours" } }, gets: `"VALIDATION_FAILED"` },
    ],
  },
  "POST /external/analytics/v1/live-streams/:lsId/events": {
    asks: ({ lsId, eventId }) =>
      ["application/json", "application/x-ndjson"].map((type) => ({
        ...posted(`${showsPath}/${lsId}/events`)(`"code":`, { events: [order(eventId, 5)] }),
        headers: { "content-type": type },
      })),
  },
};

/** A store with products, one of them assigned to its site, and a live show with events; and what names them. */
async function createOwner(): Promise<{ owner: TestStore; names: Names }> {
  const owner = await createTestStore(app);
  await addSite(app.db, owner.id, "de", siteType);
  const shirt = product("shirt", { sku: "S-1", title: "Theirs" });
  expect((await owner.post(paths.one, { product: shirt, siteId: "de" })).status).toBe(200);
  expect((await owner.post(paths.bulk, { products: products(2) })).status).toBe(200);
  const { id: lsId } = await saved(owner, { id: "the-show", status: "LIVE", durationSeconds: null });
  await recorded(owner, lsId, [view("e1"), order("e2", 20, { productId: "shirt" })]);
  await recordedOrders(owner, [sentOrder("e2", 30, { viewerId: "v1" })]);
  const { data } = await owner.graphql(`{
    products(first: 1) { pageInfo { endCursor } }
    liveStreams(first: 1) { pageInfo { endCursor } }
  }`);
  const names = {
    id: "shirt",
    sku: "S-1",
    siteId: "de",
    lsId,
    eventId: "e2",
    word: "theirs",
    after: data.products.pageInfo.endCursor,
    showAfter: data.liveStreams.pageInfo.endCursor,
  };
  return { owner, names };
}

/** A store with a product and a show of its own. */
async function createStranger(): Promise<TestStore> {
  const stranger = await createTestStore(app);
  await stranger.post(paths.one, { product: product(own.id, { title: "Own" }) });
  await saved(stranger, { id: own.lsId, name: "Own", startedAt: "2026-01-01T00:00:00.000Z", host: null });
  return stranger;
}

/** Everything that is answered, but for what differs from one answer to the next. */
async function answerTo(store: TestStore, { path, method = "GET", body, headers }: Ask) {
  const response = await store.fetch(path, {
    method,
    headers: { ...(body && { "content-type": "application/json" }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000), // a stream that does not end was not refused
  });
  const received = Object.fromEntries(response.headers);
  delete received["x-request-id"];
  delete received["date"];
  return { status: response.status, headers: received, text: await response.text() };
}

test("every operation of the schema and every documented path has a case here", () => {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const fields = roots.flatMap((root) => Object.keys(root?.getFields() ?? {}).map((name) => `${root?.name}.${name}`));
  const routes = restRoutes.map(({ method, path }) => `${method} ${restBase}${path}`);
  expect(Object.keys(cases).toSorted()).toEqual([...fields, ...routes].toSorted());
});

describe("another store's data is indistinguishable from missing data, and is not changed", () => {
  let owner: TestStore;
  let names: Names;
  let before: Awaited<ReturnType<typeof everythingOf>>;
  /** For the cases that leave it as it is, as each verifies. */
  let unchanged: TestStore;
  beforeAll(async () => {
    ({ owner, names } = await createOwner());
    before = await everythingOf(app, owner);
    unchanged = await createStranger();
  });

  test.for(Object.entries(cases))("%s", async ([, { asks, wrote }]) => {
    const stranger = wrote === undefined ? unchanged : await createStranger();
    const ownBefore = await everythingOf(app, stranger);
    expect(Object.values(before).filter((rows) => rows.length > 0).length).toBeGreaterThanOrEqual(10);
    const askUnknown = asks(unknown);
    for (const [index, ask] of asks(names).entries()) {
      const expected = await answerTo(stranger, askUnknown[index] ?? ask);
      expect(expected.text).toContain(ask.gets);
      expect(await answerTo(stranger, ask)).toEqual(expected);
    }
    expect(await everythingOf(app, owner)).toEqual(before);
    if (wrote === undefined) expect(await everythingOf(app, stranger)).toEqual(ownBefore);
    else await wrote(stranger);
  });
});

describe("two stores with the same ids", () => {
  test("each read, change and delete their own product, also concurrently", async () => {
    const [{ owner }, stranger] = [await createOwner(), await createStranger()];
    await stranger.post(paths.one, { product: product("shirt", { sku: "S-1", title: "Ours" }) });
    const titles = async () => {
      const reads = [owner, stranger, owner, stranger].map((store) => store.get(paths.of("S-1")));
      return (await Promise.all(reads)).map(({ body }) => body.code ?? body.title);
    };
    expect(await titles()).toEqual(["Theirs", "Ours", "Theirs", "Ours"]);
    expect((await stranger.delete(paths.of("S-1"))).status).toBe(200);
    expect(await titles()).toEqual(["Theirs", "PRODUCT_NOT_FOUND", "Theirs", "PRODUCT_NOT_FOUND"]);
  });

  test("each watch their own show", async () => {
    const [{ owner, names }, stranger] = [await createOwner(), await createStranger()];
    await saved(stranger, { id: names.lsId });
    const leaving = new AbortController();
    const query = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { kpis { sales { total } } } }";
    const [theirs, ours] = [owner, stranger].map((store) =>
      subscribe(app, store, { query, variables: { lsId: names.lsId } }, leaving.signal),
    ) as [ReturnType<typeof subscribe>, ReturnType<typeof subscribe>];
    const next = async (values: typeof ours) =>
      (await values.next()).value.data.liveStreamAnalytics.kpis.sales.total as number;
    expect([await next(theirs), await next(ours)]).toEqual([20, 0]);
    await recorded(owner, names.lsId, [order("e3", 1)]);
    expect(await next(theirs)).toBe(21);
    await recorded(stranger, names.lsId, [order("e3", 500)]);
    expect(await next(ours)).toBe(500);
    leaving.abort();
  });
});
