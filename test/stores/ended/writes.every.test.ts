import { expect, test } from "vitest";
import { issueKey } from "../../../src/stores/publicKey.js";
import { deleteStore } from "../../../src/stores/store.delete.js";
import { createStore } from "../../../src/stores/store.js";
import { scopes } from "../../../src/schema/scopes.js";
import { hashSecret, issueToken } from "../../../src/stores/token.js";
import { saveLiveStream } from "../../../src/shows/liveStream.save.js";
import { saveMoments } from "../../../src/shows/moments/moments.save.js";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { foldTotals } from "../../../src/events/record/fold.js";
import { importProducts } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import { sharesOf } from "../../../src/database/shares/forStore.js";
import { answerTo, asksOf, type Names, operations, type Sent } from "../../support/access/calls.js";
import { createTestStore, openTestApp, storeAt, type TestStore } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { stopTimers, type Timers } from "../../support/clock.js";
import { view } from "../../support/events.js";
import { asInputs } from "../../support/figures.js";
import { hookOf, shopifyOrder } from "../../support/figures/hooks.js";
import { longRows, paths, product, products } from "../../support/products.js";
import { digestOf } from "../../support/stored.js";
import { until } from "../../support/until.js";

const app = await openTestApp({ productRateLimit: 0, analyticsRateLimit: 0, collectRateLimit: 0 });

const show = { id: "show", name: "Spring", status: "LIVE", startedAt: new Date("2026-05-04T18:30:00Z") } as const;

/** Gives a store what every call needs. */
async function fill({ id }: Pick<TestStore, "id">): Promise<void> {
  await saveLiveStream(app.db, id, show);
  await saveMoments(app.db, id, show.id, [{ id: "a", kind: "MARKER", startedAt: show.startedAt }]);
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

/** A store, with a token for each write, and public events and a hook's delivery, all of which wait for one of its places. */
async function waitingWrites() {
  const owner = await createTestStore(app);
  const { id } = owner;
  await fill(owner);
  const { key } = await issueKey(app.db, id, { origins: ["https://shop.example"] });
  expect((await collect(key, [])).status).toBe(202);
  const { deliver } = await hookOf(app, owner, "shopify");
  expect((await deliver("orders/create", shopifyOrder("1"))).status).toBe(200);
  const stores = writes.map((_, n) => storeAt(app.url, { id, token: `${id}-${n}` }));
  const tokens = stores.map(({ token }) => ({ id: token, storeId: id, hash: hashSecret(token), scopes: [...scopes] }));
  await app.db.accessToken.createMany({ data: tokens });
  for (const store of stores) expect((await store.get(paths.of("none"))).status).toBe(400); // it is known from now on
  const timers = stopTimers(); // however long it takes here, none is refused since it has waited too long
  const { requests } = sharesOf(app.db) ?? expect.fail("The database has no shares.");
  await requests.take(id, { amount: requests.ofStoreMax });
  const named = async (name: string, answer: Promise<Response>) => {
    const { status, body } = await answer.then(readAnswer);
    return { name, status, text: JSON.stringify(body) };
  };
  const answers = [
    ...writes.map(async ([name, sent], n) => {
      const { status, text } = await answerTo(stores[n] ?? expect.fail(name), sent);
      return { name, status, text };
    }),
    named("public events", collect(key, [{ id: "n", type: "VIEW", seconds: 1 }])),
    deliver("orders/create", shopifyOrder("2")).then(({ status }) => ({ name: "a delivery", status, text: "" })),
  ];
  let [before, now] = [0, 0];
  await until(() => ([before, now] = [now, requests.waiting])[0] > 0 && before === now, "the writes to wait");
  const answered = () => {
    requests.release(id, requests.ofStoreMax);
    return Promise.all(answers);
  };
  return { id, timers, answered };
}

/** What work gives, with the timers that it starts. */
async function withTimers<Result>(timers: Timers, work: Promise<Result>): Promise<Result> {
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  await until(async () => (await timers.run(1), isDone), "the work to end");
  return done;
}

/** As long as a lookup is trusted, and less than a write waits for its place. */
const trustedMs = 3_000;

const end: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
  "are revoked": async (storeId) => {
    const revoked = { where: { storeId }, data: { revokedAt: new Date() } };
    await app.db.accessToken.updateMany(revoked);
    await app.db.publicKey.updateMany(revoked);
    await app.db.hook.deleteMany({ where: { storeId } });
  },
  "are deleted with their store": (id) => deleteStore(app.db, id, 0),
  "are deleted with their store, which is made anew": async (id) => {
    await deleteStore(app.db, id, 0);
    await createStore(app.db, id, "Another store");
    await fill({ id });
    await issueToken(app.db, id);
  },
};

test.each(Object.entries(end))(
  "where tokens, keys and hooks %s while writes wait, each is refused and changes nothing",
  async (_, endThem) => {
    const { id, timers, answered } = await waitingWrites();
    await withTimers(timers, endThem(id));
    await timers.run(trustedMs);
    const before = await digestOf(app, { id });
    const answers = await withTimers(timers, answered());
    const others = answers.filter(({ status, text }) => status !== 401 || !/^$|UNAUTHENTICATED/u.test(text));
    expect(others).toEqual([]);
    expect(await digestOf(app, { id })).toBe(before);
    expect(app.logged).toEqual([]);
  },
);
