import { describe, expect, test } from "vitest";
import { issueKey } from "../../../src/access/key.js";
import { deleteStore } from "../../../src/access/stores/store.delete.js";
import { createStore } from "../../../src/access/stores/store.js";
import { issueToken } from "../../../src/access/token.js";
import { saveLiveStream } from "../../../src/analytics/shows/liveStream.save.js";
import { recordEvents } from "../../../src/analytics/events/events.record.js";
import { foldTotals } from "../../../src/analytics/totals/fold.js";
import { importProducts } from "../../../src/catalog/import/ways/list.js";
import { schema } from "../../../src/graphql/schema.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { view } from "../../support/events.js";
import { asInputs } from "../../support/figures.js";
import { longRows, paths, product, products } from "../../support/products.js";
import { everythingOf } from "../../support/stored.js";

const app = await openTestApp({ productRateLimit: 0, analyticsRateLimit: 0, collectRateLimit: 0 });

const show = { id: "show", name: "Spring", status: "LIVE", startedAt: new Date("2026-05-04T18:30:00Z") } as const;
const viewer = "v1";

/** Gives a store what every case needs. @returns a public key of the store */
async function fill({ id }: Pick<TestStore, "id">): Promise<string> {
  await saveLiveStream(app.db, id, show);
  await recordEvents(app.db, id, show.id, asInputs([view("old", { viewerId: viewer })]));
  await foldTotals(app.db, id, show.id); // the sweep has nothing left to change
  await importProducts(app.db, id, [product("a")]);
  return (await issueKey(app.db, id, { origins: ["https://shop.example"] })).key;
}

/** A store that the server knows the token and the key of, and which is deleted then. */
async function deletedStore() {
  const store = await createTestStore(app);
  const key = await fill(store);
  const collected = { key, show: show.id, channel: "LIVE", viewer: "v", events: [] };
  expect((await readAnswer(await collect(collected))).status).toBe(202);
  expect((await store.get(paths.of("a"))).status).toBe(200);
  await deleteStore(app.db, store.id, 0);
  return { store, key };
}

const collect = (body: object) => fetch(`${app.url}/collect/v1`, { method: "POST", body: JSON.stringify(body) });

const event = '{ id: "new", type: VIEW, channel: LIVE, viewerId: "v2", seconds: 1, device: "watch" }';
const started = 'startedAt: "2026-05-04T18:30:00Z"';
const input = `{ id: "b", sku: "b", title: "B", available: true, featured_image: "https://a.example", url: "https://a.example" }`;
const csv = "id,sku,title,available,featured_image,url\nb,b,B,true,https://a.example,https://a.example\n";

/** Each field of Mutation. */
const mutations: Readonly<Record<string, string>> = {
  importProduct: `importProduct(product: ${input}) { imported }`,
  importProducts: `importProducts(products: [${input}]) { imported }`,
  importProductsCsv: `importProductsCsv(csvContent: ${JSON.stringify(csv)}) { imported }`,
  deleteProduct: `deleteProduct(productId: "a") { message }`,
  patchProducts: `patchProducts(products: [{ id: "a", title: "New" }]) { imported }`,
  saveLiveStream: `saveLiveStream(liveStream: { id: "show", name: "New", status: LIVE, ${started} }) { id }`,
  deleteLiveStream: `deleteLiveStream(lsId: "show", force: true) { message }`,
  eraseViewer: `eraseViewer(viewerId: "${viewer}") { shows }`,
  recordOrders: `recordOrders(orders: [{ id: "1", placedAt: "2026-05-04T18:30:00Z", amount: 1, lsId: "show" }]) { accepted }`,
  recordShopperEvents: `recordShopperEvents(lsId: "show", events: [${event}]) { accepted }`,
};
const variants: Readonly<Record<string, string>> = {
  "of no products": `importProducts(products: []) { imported }`,
  "that replaces": `importProducts(products: [${input}], mode: REPLACE, maxDeletions: 9) { imported }`,
  "that takes what is valid": `importProducts(products: [${input}, ${input}], errorPolicy: REJECT_FAILED) { imported }`,
  "as a dry run": `importProducts(products: [${input}], dryRun: true) { imported }`,
  "on a site": `importProducts(products: [${input}], siteId: "none") { imported }`,
  "of a new show": `saveLiveStream(liveStream: { id: "new", name: "New", status: LIVE, ${started} }) { id }`,
  "of a product that is not there": `deleteProduct(productId: "none") { message }`,
  "of no events": `recordShopperEvents(lsId: "show", events: []) { accepted }`,
};

type Case = readonly [name: string, send: (store: TestStore, key: string) => Promise<string | undefined>];

const ofGraphql = ([name, field]: [string, string]): Case => [
  name,
  async (store) => {
    const { status, body } = await store.post("/graphql", { query: `mutation { ${field} }` });
    return `${status} ${body.errors?.[0]?.extensions.code}`;
  },
];
const ofRest = (name: string, path: string, type: string, body: string, headers: Record<string, string> = {}): Case => [
  name,
  async (store) => {
    const sent = { method: "POST", headers: { "content-type": type, ...headers }, body };
    const answer = await readAnswer(await store.fetch(path, sent));
    return `${answer.status} ${answer.body.code}`;
  },
];
const many = JSON.stringify({ products: products(longRows) });
const lines = [view("n1"), view("n2")].map((each) => JSON.stringify(each)).join("\n");

const cases: readonly Case[] = [
  ...Object.entries(mutations).map(ofGraphql),
  ...Object.entries(variants).map(ofGraphql),
  ofRest("a long import", paths.bulk, "application/json", many),
  ofRest("an import with an Idempotency-Key", paths.bulk, "application/json", many, { "idempotency-key": "k" }),
  ofRest("a short one", paths.one, "application/json", JSON.stringify({ product: product("b") }), {
    "idempotency-key": "k",
  }),
  ofRest("a file", paths.csv, "text/csv", csv),
  ofRest("events as NDJSON", "/external/analytics/v1/live-streams/show/events", "application/x-ndjson", lines),
  [
    "events of a public key",
    async (_, key) => {
      const events = [{ id: "n", type: "VIEW", seconds: 1 }];
      const answer = await readAnswer(await collect({ key, show: show.id, channel: "LIVE", viewer: "v", events }));
      return `${answer.status} ${answer.body.code}`;
    },
  ],
];

test("the cases have every mutation", () => {
  expect(Object.keys(mutations).toSorted()).toEqual(
    Object.keys(schema.getMutationType()?.getFields() ?? {}).toSorted(),
  );
});

describe.each(cases)("%s", (_, send) => {
  test("is refused as unauthenticated once the store was deleted, and leaves nothing", async () => {
    const { store, key } = await deletedStore();
    expect(await send(store, key)).toBe("401 UNAUTHENTICATED");
    expect(Object.values(await everythingOf(app, store)).flat()).toEqual([]);
    expect(app.logged).toEqual([]);
  });

  test("changes nothing in a store that was made anew with the same id", async () => {
    const { store, key } = await deletedStore();
    await createStore(app.db, store.id, "Another store");
    await fill(store);
    await issueToken(app.db, store.id);
    const before = await everythingOf(app, store);
    expect(await send(store, key)).toBe("401 UNAUTHENTICATED");
    expect(await everythingOf(app, store)).toEqual(before);
    expect(app.logged).toEqual([]);
  });
});
