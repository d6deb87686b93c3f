import { expect, test } from "vitest";
import { recoverImports } from "../../../src/catalog/import/staging/recover.js";
import { importProducts } from "../../../src/catalog/import/ways/list.js";
import { createTestStore, openConnections, openTestApp, type TestStore } from "../../support/app.js";
import { whenFree } from "../../support/busy.js";
import { postWithKey } from "../../support/http/idempotency.js";
import { ofTest } from "../../support/citus/recording.js";
import {
  bulk,
  importedAnswer,
  paths,
  product,
  products,
  storedKeys,
  storedProducts,
  longRows,
} from "../../support/products.js";

// On the embedded engine, whose one session all share.
const app = await openTestApp();

/** What a long import leaves in the tables through which its rows go. */
async function leftOf({ id: storeId }: TestStore) {
  return {
    imports: await app.db.stagedImport.count({ where: { storeId } }),
    rows: await app.db.stagedProduct.count({ where: { storeId } }),
  };
}
const nothing = { imports: 0, rows: 0 };

/**
 * Removes or completes what a store's ended import has left, once it is old enough. Not `recoverImports(db, "all")`,
 * which a server calls that is alone: the engine is shared with other test files, whose imports it would remove.
 */
async function recoverLater({ id: storeId }: TestStore): Promise<void> {
  const longAgo = ofTest(`
    UPDATE "StagedImport" SET "startedAt" = "startedAt" - interval '3 hours', "decidedAt" = "decidedAt" - interval '1 minute'
    WHERE "storeId" = $1`);
  await app.db.$executeRawUnsafe(longAgo, storeId);
  await recoverImports(app.db, "old");
}

/** Sends an import, and repeats `work` until it is answered. */
async function during<Result>(answer: Promise<Result>, work: () => Promise<unknown>): Promise<Result> {
  const state = { isOver: false };
  const over = answer.finally(() => (state.isOver = true));
  while (!state.isOver) await work();
  return over;
}

/** Imports on a connection that breaks at the given write of products, as with a process that is killed there. */
async function importBrokenAt(store: TestStore, list: readonly object[], brokenWrite: number): Promise<unknown> {
  const database = openConnections();
  let writes = 0;
  database.probe.aroundQuery = (sql, send) => {
    writes += sql.includes(`INSERT INTO "Product" (`) ? 1 : 0;
    return writes < brokenWrite ? send() : Promise.reject(new Error("Connection terminated unexpectedly"));
  };
  const error = await importProducts(database.client, store.id, list).catch((reason: unknown) => reason);
  await database.close(); // as the end of its process does: its transaction would keep all others waiting
  return error;
}

test("during a long import, other requests are answered and can write", async () => {
  const [importer, other] = [await createTestStore(app), await createTestStore(app)];
  await other.post(paths.one, { product: product("a") });
  let turns = 0;
  const answer = importer.post(paths.bulk, bulk(products(2_400)));
  expect(
    await during(answer, async () => {
      expect((await other.get(paths.of("a"))).status).toBe(200);
      expect(await other.post(paths.one, { product: product("a") })).toEqual(importedAnswer(0, 1));
      turns += 1;
    }),
  ).toEqual(importedAnswer(2_400));
  expect(turns).toBeGreaterThan(5);
  expect(await leftOf(importer)).toEqual(nothing);
});

test("readers see a long import completely or not at all, and short imports of the store come after it", async () => {
  const store = await createTestStore(app);
  const titled = (title: string) => bulk(products(1_200, () => ({ title })));
  await store.post(paths.bulk, titled("Old"));
  const seen = new Set<string>();
  const ids = ["p00000", "p00599", "p01199"];
  const query = `{ products(first: 100) { nodes { title } } ${ids.map((id) => `${id}: product(productId: "${id}") { title }`).join(" ")} }`;
  const answer = await during(store.post(paths.bulk, titled("New")), async () => {
    const { data } = await store.graphql(query);
    const listed = data.products.nodes.map(({ title }: { title: string }) => title);
    expect(new Set(listed).size).toBe(1);
    for (const id of ids) seen.add(data[id].title);
    await store.post(paths.one, { product: product("short") });
  });
  expect(answer).toEqual(importedAnswer(0, 1_200));
  const { data } = await store.graphql(query);
  expect(data.p01199.title).toBe("New");
  expect([...seen].every((title) => ["Old", "New"].includes(title))).toBe(true);
});

test("products of a long import may pass on their skus across all of its steps", async () => {
  const store = await createTestStore(app);
  const count = longRows;
  const shifted = (by: number) => products(count, (index) => ({ sku: `s${(index + by) % count}` }));
  await store.post(paths.bulk, bulk(shifted(0)));
  for (const by of [1, count - 2]) {
    expect(await store.post(paths.bulk, bulk(shifted(by)))).toEqual(importedAnswer(0, count));
    expect(await storedKeys(app, store)).toEqual(Object.fromEntries(shifted(by).map(({ id, sku }) => [id, sku])));
  }
});

test("a dry run of a long import reports what it would do, and leaves nothing behind", async () => {
  const store = await createTestStore(app);
  await store.post(paths.one, { product: product("p00001") });
  const { status, body } = await store.post(paths.bulk, { ...bulk(products(longRows)), dryRun: true });
  expect([status, body.created, body.updated]).toEqual([200, longRows - 1, 1]);
  expect(await storedProducts(app, store)).toHaveLength(1);
  expect(await leftOf(store)).toEqual(nothing);
});

test("a long import that is interrupted before it is committed stores nothing, and its staged rows are removed", async () => {
  const store = await createTestStore(app);
  const { client, probe } = openConnections();
  probe.aroundQuery = (sql, send) => {
    const isLate = sql.includes(`SET "decidedAt" = $`) || sql.startsWith("DELETE") || sql.includes("DELETE FROM");
    return isLate ? Promise.reject(new Error("Connection terminated unexpectedly")) : send();
  };
  await expect(importProducts(client, store.id, products(longRows))).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await storedProducts(app, store)).toEqual([]);
  expect(await leftOf(store)).toEqual({ imports: 1, rows: longRows });
  await recoverImports(app.db, "old");
  expect(await leftOf(store), "it may be another process's").toEqual({ imports: 1, rows: longRows });
  await recoverLater(store);
  expect(await leftOf(store)).toEqual(nothing);
  expect(await storedProducts(app, store)).toEqual([]);
});

const importNext = async (store: TestStore) =>
  expect(await whenFree(() => store.post(paths.one, { product: product("next") }))).toMatchObject({ status: 200 });

test.each<[string, (store: TestStore) => Promise<unknown>]>([
  ["by the sweep of a server", recoverLater],
  ["by the next import of the store", importNext],
])("a committed long import whose process ends is completed %s", async (_, complete) => {
  const store = await createTestStore(app);
  const old = products(longRows + 100, (index) => ({ sku: `s${index}` }));
  expect(await whenFree(() => store.post(paths.bulk, bulk(old)))).toMatchObject({ status: 200 });
  await recoverLater(store);
  expect(await leftOf(store)).toEqual(nothing);
  const list = products(longRows + 100, (index) => ({ sku: `s${(index + 1) % old.length}`, title: "New" }));
  expect(await importBrokenAt(store, list, 3)).toMatchObject({ code: "UNAVAILABLE" });
  expect(await leftOf(store)).toEqual({ imports: 1, rows: list.length });
  await complete(store);
  const stored = (await storedProducts(app, store)).filter(({ id }) => id !== "next");
  expect(stored.map(({ id, sku, title }) => ({ id, sku, title }))).toEqual(
    list.map(({ id, sku, title }) => ({ id, sku, title })),
  );
  await recoverLater(store);
  expect(await leftOf(store)).toEqual(nothing);
});

test("a long import is carried out once under its key, and its rows are not staged again", async () => {
  const store = await createTestStore(app);
  const list = bulk(products(longRows));
  const again = () => whenFree(() => postWithKey(store, paths.bulk, list, "k"));
  const answers = await Promise.all([again(), again(), again()]);
  expect(answers.map(({ status, text }) => [status, JSON.parse(text).created])).toEqual(
    answers.map(() => [200, longRows]),
  );
  expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
  const { client, probe } = openConnections();
  let staged = 0;
  probe.aroundQuery = (sql, send) => {
    staged += sql.includes(`INSERT INTO "StagedProduct"`) ? 1 : 0;
    return send();
  };
  const request = { key: "direct", fingerprint: "f", field: "f", onReplay: () => undefined };
  for (const _ of [1, 2]) await importProducts(client, store.id, products(longRows), { idempotency: request });
  expect(staged, "once, in chunks").toBe(2);
  expect(await leftOf(store)).toEqual(nothing);
});
