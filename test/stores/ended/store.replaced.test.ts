import { expect, test } from "vitest";
import { issueKey } from "../../../src/stores/publicKey.js";
import { deleteStore } from "../../../src/stores/store.delete.js";
import { createStore } from "../../../src/stores/store.js";
import { scopes } from "../../../src/schema/scopes.js";
import { hashSecret, issueToken } from "../../../src/stores/token.js";
import { saveLiveStream } from "../../../src/shows/liveStream.save.js";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { foldTotals } from "../../../src/events/record/fold.js";
import { importProducts } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import { answerTo, asksOf, type Names, operations, type Sent } from "../../support/access/calls.js";
import { createTestStore, openTestApp, storeAt, type TestStore } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { stopClock } from "../../support/clock.js";
import { view } from "../../support/events.js";
import { asInputs } from "../../support/figures.js";
import { longRows, paths, product, products } from "../../support/products.js";
import { digestOf } from "../../support/stored.js";

const app = await openTestApp({ productRateLimit: 0, analyticsRateLimit: 0, collectRateLimit: 0 });

const show = { id: "show", name: "Spring", status: "LIVE", startedAt: new Date("2026-05-04T18:30:00Z") } as const;

/** Gives a store what every call needs. */
async function fill({ id }: Pick<TestStore, "id">): Promise<void> {
  await saveLiveStream(app.db, id, show);
  await recordEvents(app.db, id, show.id, asInputs([view("old", { viewerId: "v1" })]));
  await foldTotals(app.db, id, show.id); // the sweep has nothing left to change
  await importProducts(app.db, id, [product("a")]);
}

/** What is there, and what is not. */
const there: Names = {
  by: { lsId: ["show"], viewerId: ["v1"], device: ["watch"], source: ["mail"] },
  every: ["a", "new"],
};

const json = { "content-type": "application/json" };
const ofGraphql = (field: string): Sent => ({
  method: "POST",
  path: "/graphql",
  headers: json,
  body: JSON.stringify({ query: `mutation { ${field} }` }),
});
const input = `{ id: "b", sku: "b", title: "B", available: true, featured_image: "//a.example", url: "//a.example" }`;
const keyed = (path: string, body: object): Sent => ({
  method: "POST",
  path,
  headers: { ...json, "idempotency-key": "k" },
  body: JSON.stringify(body),
});

/** Each operation that writes, as the schema and the paths have it; and where it goes other ways. */
const writes: readonly (readonly [string, Sent])[] = [
  ...operations
    .filter(({ isRead }) => !isRead)
    .flatMap((operation) =>
      asksOf(operation, there)
        .slice(0, operation.name.startsWith("Mutation.") ? 2 : 1) // paths run the same fields
        .flatMap((given) => operation.calls(given, true))
        .map((sent, index) => [`${operation.name} ${index}`, sent] as const),
    ),
  ["no products", ofGraphql(`importProducts(products: []) { imported }`)],
  ["no events", ofGraphql(`recordShopperEvents(lsId: "show", events: []) { accepted }`)],
  [
    "products that replace",
    ofGraphql(`importProducts(products: [${input}], mode: REPLACE, maxDeletions: 9) { imported }`),
  ],
  [
    "what is valid of products",
    ofGraphql(`importProducts(products: [${input}, ${input}], errorPolicy: REJECT_FAILED) { imported }`),
  ],
  ["products of a site", ofGraphql(`importProducts(products: [${input}], siteId: "none") { imported }`)],
  ["many products", { ...keyed(paths.bulk, { products: products(longRows) }), headers: json }],
  ["many products with a key", keyed(paths.bulk, { products: products(longRows) })],
  ["a product with a key", keyed(paths.one, { product: product("b") })],
];

const collect = (key: string, events: readonly object[]) =>
  fetch(`${app.url}/collect/v1`, {
    method: "POST",
    body: JSON.stringify({ key, show: show.id, channel: "LIVE", viewer: "v", events }),
  });

/** A store that was deleted while the server trusted its key, and a token of it for each write. */
async function deletedStore() {
  const { id } = await createTestStore(app);
  await fill({ id });
  const { key } = await issueKey(app.db, id, { origins: ["https://shop.example"] });
  expect((await collect(key, [])).status).toBe(202);
  const stores = writes.map((_, n) => storeAt(app.url, { id, token: `${id}-${n}` }));
  const tokens = stores.map(({ token }) => ({ id: token, storeId: id, hash: hashSecret(token), scopes: [...scopes] }));
  await app.db.accessToken.createMany({ data: tokens });
  for (const store of stores) expect((await store.get(paths.of("none"))).status).toBe(400); // it is known from now on
  await deleteStore(app.db, id, 0);
  return { id, key, stores };
}

/** Sends each write, and public events. @returns those that are answered otherwise than they must be */
async function sendAll({ key, stores }: Awaited<ReturnType<typeof deletedStore>>) {
  const others: string[] = [];
  for (const [index, [name, sent]] of writes.entries()) {
    const { status, text } = await answerTo(stores[index] ?? expect.fail(name), sent);
    if (status !== 401 || !text.includes('"code":"UNAUTHENTICATED"')) others.push(`${name}: ${status} ${text}`);
  }
  const ofKey = await readAnswer(await collect(key, [{ id: "n", type: "VIEW", seconds: 1 }]));
  expect(ofKey).toMatchObject({ status: 401, body: { code: "UNAUTHENTICATED" } });
  return others;
}

// The server trusts what it has looked up for three seconds, which do not pass.
test("once a store was deleted, every write is refused as unauthenticated, and leaves nothing", async () => {
  stopClock();
  const deleted = await deletedStore();
  expect(await sendAll(deleted)).toEqual([]);
  expect(await digestOf(app, deleted)).toBe("");
  expect(app.logged).toEqual([]);
});

test("nor does one change anything in a store that was made anew with the same id", async () => {
  const clock = stopClock();
  const deleted = await deletedStore();
  clock.pass(1); // stores are told apart by when they were made
  await createStore(app.db, deleted.id, "Another store");
  await fill(deleted);
  await issueToken(app.db, deleted.id);
  const before = await digestOf(app, deleted);
  expect(await sendAll(deleted)).toEqual([]);
  expect(await digestOf(app, deleted)).toBe(before);
  expect(app.logged).toEqual([]);
});
