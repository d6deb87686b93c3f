import { writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { addSite } from "../../../src/access/stores/site.js";
import { requireStore } from "../../../src/access/stores/store.js";
import { revokeToken, rotateToken, undoRotation } from "../../../src/access/token.replace.js";
import { issueToken, listTokens } from "../../../src/access/token.js";
import { addHook, listHooks, noteFault, removeHook } from "../../../src/analytics/hooks/hook.js";
import { setAttribution } from "../../../src/analytics/orders/attribution/recount.js";
import { importOrders } from "../../../src/analytics/orders/files/orderImport.js";
import { reconcile } from "../../../src/analytics/orders/files/reconcile.js";
import { claimOrders } from "../../../src/analytics/orders/order.record.js";
import { createOrderSweep } from "../../../src/analytics/orders/sweep.js";
import { recordEventFile } from "../../../src/analytics/events/files/events.file.js";
import { pruneBefore, showsWithEventsBefore } from "../../../src/analytics/totals/pruneBefore.js";
import { pruneEvents } from "../../../src/analytics/totals/prune.js";
import { rebuildAnalytics } from "../../../src/analytics/totals/rebuild.js";
import { importCsv } from "../../../src/catalog/import/ways/text.js";
import { createTestStore, type TestApp, type TestStore } from "../app.js";
import { toCsv } from "../catalog/csv.js";
import { someEvents } from "../figures.js";
import { bulk, paths, product, products } from "../products.js";
import { sentOrder } from "../figures/orders.js";
import { analyticsPath, readAnalytics, saved } from "../shows.js";
import { subscribe } from "../http/subscribe.js";

const productFields = "id sku title description price images createdAt updatedAt";
const counts = "message imported created updated";
const events = someEvents(60);
const orderLines = [{ sku: "sku-p00001", quantity: 1, amount: 20 }];

/** Every root field of the schema at least once, each with all arguments that change what is asked of the database. */
export const graphqlOperations: readonly (readonly [string, object])[] = [
  [`mutation ($p: ProductInput!) { importProduct(product: $p) { ${counts} } }`, { p: product("one") }],
  [
    `mutation ($p: [ProductInput!]!) { importProducts(products: $p, siteId: "de", siteType: "SHOP") { ${counts} } }`,
    { p: products(3) },
  ],
  ...["", ', siteId: "de"'].flatMap((site) =>
    [{}, { price: -1 }].map((wrong): readonly [string, object] => [
      `mutation ($p: [ProductInput!]!) {
        importProducts(products: $p, mode: REPLACE, errorPolicy: REJECT_FAILED${site}) { ${counts} deleted }
      }`,
      { p: [...products(2), product("one"), product("failing", wrong)] },
    ]),
  ),
  ...[{}, { id: "none" }, { sku: "sku-p00001" }].map((other): readonly [string, object] => [
    `mutation ($p: [ProductPatchInput!]!) {
      patchProducts(products: $p, siteId: "de", errorPolicy: REJECT_FAILED) { ${counts} failed }
    }`,
    {
      p: [
        { id: "one", title: "New", price: 1 },
        { sku: "sku-p00000", price: 2 },
        ...(Object.keys(other).length > 0 ? [{ price: 3, ...other }] : []),
      ],
    },
  ]),
  [`mutation ($c: String!) { importProductsCsv(csvContent: $c) { ${counts} } }`, { c: toCsv(products(4)) }],
  [`{ product(productId: "one") { ${productFields} } }`, {}],
  [`{ product(productId: "p00001", siteId: "de") { ${productFields} } }`, {}],
  [`{ products(first: 2) { nodes { ${productFields} } pageInfo { endCursor } } }`, {}],
  [`{ products(search: "title", available: true, after: "WyJvbmUiXQ") { nodes { id } } }`, {}],
  [`{ products(available: false, after: "WyJvbmUiXQ") { nodes { id } } }`, {}],
  [`{ products(ids: ["one", "p00001"], search: "title") { totalCount nodes { id } } }`, {}],
  [`{ products(ids: ["one", "p00001"], siteId: "de", orderBy: PRICE) { totalCount nodes { id } } }`, {}],
  [`mutation { deleteProduct(productId: "one") { message } }`, {}],
  [
    `mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }`,
    { s: { id: "show", name: "Show", status: "LIVE", startedAt: "2026-05-04T18:30:00Z" } },
  ],
  [
    `mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }`,
    { s: { id: "show", name: "Show", status: "ENDED", startedAt: "2026-05-04T18:30:00Z", durationSeconds: 60 } },
  ],
  [
    `mutation ($e: [ShopperEventInput!]!) { recordShopperEvents(lsId: "show", events: $e) { accepted } }`,
    { e: events },
  ],
  [
    `mutation ($o: [OrderInput!]!) { recordOrders(orders: $o) { accepted } }`,
    { o: [sentOrder("1", 30, { lsId: "show", lines: orderLines }), sentOrder("2", 5, { viewerId: "viewer-1" })] },
  ],
  [`mutation ($o: [OrderInput!]!) { recordOrders(orders: $o) { accepted } }`, { o: [sentOrder("1", 40)] }],
  [
    `mutation ($e: [ShopperEventInput!]!) { recordShopperEvents(lsId: "show", events: $e) { accepted } }`,
    { e: [{ id: "o", type: "ORDER", channel: "LIVE", amount: 5, orderId: "2" }] },
  ],
  [`{ order(id: "1") { id attributions { because } } }`, {}],
  [`{ orders(lsId: "show", isAttributed: true, from: "2026-01-01T00:00:00Z") { totalCount nodes { id } } }`, {}],
  [`{ orders(isAttributed: false, after: "WyIyMDI2LTA1LTA0VDE4OjMwOjAwLjAwMFoiLCIxIl0") { nodes { id } } }`, {}],
  [`{ attributionPreview(rule: LAST_SHOW) { orders } }`, {}],
  [`{ store { id name } }`, {}],
  [`{ liveStream(lsId: "show") { name } }`, {}],
  [`{ liveStreams(first: 1, status: ENDED) { nodes { id kpis { orders { total } } } pageInfo { endCursor } } }`, {}],
  [`{ liveStreams(host: "alex@shop.example", first: 1) { nodes { id } totalCount } }`, {}],
  [`{ liveStreams(after: "WyIyMDI2LTA1LTA0VDE4OjMwOjAwLjAwMFoiLCJzaG93Il0") { nodes { id } } }`, {}],
  [readAnalytics, { lsId: "show", first: 3 }],
  ...["SALES", "VIEWERS", "NAME"].map(
    (by) =>
      [
        `{ liveStreams(orderBy: ${by}, search: "show", host: "alex@shop.example") { nodes { id } totalCount } }`,
        {},
      ] as const,
  ),
  [
    `{ productPerformance(from: "2026-05-01T00:07:00Z", until: "2026-06-01T00:08:00Z") {
      nodes { productId product { title performance { sales } } shows } totalCount
    } }`,
    {},
  ],
  [
    `{ storeAnalytics(from: "2026-05-01T00:07:00Z", until: "2026-06-01T00:08:00Z", timeZone: "Europe/Berlin") {
      showCount kpis { orders { total } } hours: timeline(bucket: HOUR) { orders } timeline { orders }
      topShows { id } rates: topShows(by: CONVERSION_RATE) { id }
      unattributed { orders sales refunds }
    } }`,
    {},
  ],
];

/** What comes last. */
export const deletions: readonly (readonly [string, object])[] = [
  [`mutation { eraseViewer(viewerId: "viewer-1") { message shows events } }`, {}],
  [`mutation { deleteLiveStream(lsId: "show", force: true) { message events } }`, {}],
  [
    `mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }`,
    { s: { id: "plan", name: "Show", status: "SCHEDULED", startedAt: "2999-05-04T18:30:00Z" } },
  ],
  [`{ liveStreams(first: 1, status: SCHEDULED) { pageInfo { endCursor } } }`, {}],
  [`{ liveStreams(after: "WyIyMDI2LTA1LTA0VDE4OjMwOjAwLjAwMFoiLCJzaG93IiwiU0NIRURVTEVEIl0") { nodes { id } } }`, {}],
  [`mutation { deleteLiveStream(lsId: "plan") { message events } }`, {}],
];

/** The subscriptions; each is read until its first value. */
export const subscriptions = ["subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { durationSeconds } }"];

/** What callers do, over both styles, and what operators do by commands. @param folder for files */
export async function doEverything(app: TestApp, folder: string): Promise<void> {
  const store = await createTestStore(app);
  await addSite(app.db, store.id, "de", "SHOP");
  await callGraphql(store, graphqlOperations);
  await readSubscriptions(app, store);
  await callRest(store);
  await runCommands(app, store, folder);
  await callGraphql(store, deletions);
}

async function callGraphql(store: TestStore, operations: typeof graphqlOperations): Promise<void> {
  for (const [query, variables] of operations) {
    const { errors } = await store.graphql(query, variables);
    if (errors !== undefined) throw new Error(`${query}: ${JSON.stringify(errors)}`);
  }
}

async function readSubscriptions(app: TestApp, store: TestStore): Promise<void> {
  for (const query of subscriptions) {
    const end = new AbortController();
    for await (const { data } of subscribe(app, store, { query, variables: { lsId: "show" } }, end.signal)) {
      if (data === null) throw new Error(`${query} gave nothing.`);
      break;
    }
    end.abort();
  }
}

async function callRest(store: TestStore): Promise<void> {
  const send = async (path: string, body: object): Promise<void> => {
    const response = await store.fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": randomUUID() },
      body: JSON.stringify(body),
    });
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
  await send(paths.one, { product: product("two", { sku: "mine" }) });
  await send(paths.bulk, bulk(products(5)));
  await send(paths.csv, { csvContent: toCsv(products(6)) });
  // Refused, which takes another way: rows are collected first, to name what is wrong.
  const refused = await store.post(paths.bulk, bulk([product("a", { sku: "mine" }), product("b"), product("b")]));
  const read = [await store.get(paths.of("two")), await store.get(analyticsPath("show"))];
  const deleted = await store.delete(paths.of("two"));
  const found = [refused, ...read, deleted].map(({ status }) => status);
  if (found.join(" ") !== "400 200 200 200") throw new Error(`REST answered ${found.join(" ")}`);
}

async function runOrders(db: TestApp["db"], storeId: string, folder: string): Promise<void> {
  const hook = await addHook(db, storeId, { from: "shopify" });
  await noteFault(db, { ...hook, storeId, storeCreatedAt: new Date() }, "No reason.");
  await listHooks(db, storeId);
  await claimOrders(db, storeId, new Map([["3", "viewer-1"]]));
  const file = join(folder, "orders.ndjson");
  await writeFile(file, ["3", "4"].map((id) => JSON.stringify(sentOrder(id, 7))).join("\n"));
  await importOrders(db, storeId, file);
  await reconcile(db, storeId, file);
  for (const rule of ["LAST_SHOW", "CART"] as const) await setAttribution(db, storeId, { rule, windowHours: 168 });
  await createOrderSweep(db, () => undefined)(new AbortController().signal);
  await removeHook(db, storeId, hook.id);
}

async function runCommands({ db }: TestApp, store: TestStore, folder: string): Promise<void> {
  const storeId = store.id;
  await requireStore(db, storeId);
  const { id } = await issueToken(db, storeId);
  const rotation = await rotateToken(db, storeId, id, { graceMs: 0 });
  await undoRotation(db, rotation);
  await rotateToken(db, storeId, id, { graceMs: 0 });
  await revokeToken(db, storeId, id);
  await listTokens(db, storeId);
  const [csv, ndjson] = [join(folder, "products.csv"), join(folder, "events.ndjson")];
  await writeFile(csv, toCsv(products(4_500))); // several statements, between which skus may be double
  await importCsv(db, storeId, { file: csv }, { pathPrefix: [] });
  await writeFile(ndjson, events.map((event) => JSON.stringify(event)).join("\n"));
  const { id: lsId } = await saved(store);
  await recordEventFile(db, storeId, lsId, ndjson);
  await runOrders(db, storeId, folder);
  await showsWithEventsBefore(db, storeId, new Date());
  await pruneBefore(db, storeId, lsId, { before: new Date("2026-05-04T19:00:00Z"), pageRows: 20 });
  await rebuildAnalytics(db, storeId);
  await saved(store, { id: lsId, status: "ARCHIVED" });
  await pruneEvents(db, storeId, { before: new Date(), batchRows: 20 });
}
