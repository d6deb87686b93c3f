import { expect, test } from "vitest";
import { chunkRowsMax } from "../../../src/files/chunkRows.js";
import { recoverImports } from "../../../src/catalog/import/staging/recover.js";
import { importProducts } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import { createTestStore, openConnections, openTestApp, type TestStore } from "../../support/app.js";
import { nothingStaged, stagedOf } from "../../support/stored.js";
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
const other = await createTestStore(app);

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

/** Imports a long list. @param beforeStep before each transaction that stores some of its rows, after the import is accepted */
async function importInSteps(store: TestStore, list: readonly object[], beforeStep: () => Promise<void>) {
  const { client, probe } = openConnections();
  let [isAccepted, steps] = [false, 0];
  probe.aroundQuery = (sql, send) => {
    isAccepted ||= sql.includes(`SET "decidedAt" = $`);
    return send();
  };
  const transact = client.$transaction.bind(client) as (...args: unknown[]) => Promise<unknown>;
  const $transaction = async (...args: unknown[]) => {
    if (isAccepted) {
      steps += 1;
      await beforeStep();
    }
    return transact(...args);
  };
  Object.assign(client, { $transaction });
  const result = await importProducts(client, store.id, list);
  return { result, steps };
}

test("between the steps of a long import, other requests are answered and can write", async () => {
  const importer = await createTestStore(app);
  const one = { product: product("a") };
  await other.post(paths.one, one);
  const { result, steps } = await importInSteps(importer, products(2 * longRows), async () => {
    expect((await other.get(paths.of("a"))).status).toBe(200);
    expect(await other.post(paths.one, one)).toEqual(importedAnswer(0, 1));
  });
  expect(result).toMatchObject({ created: 2 * longRows });
  expect(steps).toBeGreaterThan(4);
  expect(await stagedOf(app, importer)).toEqual(nothingStaged);
});

test("readers see a long import completely or not at all, and short imports of the store come after it", async () => {
  const store = await createTestStore(app);
  const titled = (title: string) => products(longRows, () => ({ title }));
  await store.post(paths.bulk, bulk(titled("Old")));
  const [first, last] = ["p00000", `p00${chunkRowsMax}`];
  const query = `{ products(first: 100) { nodes { title } } ${first}: product(productId: "${first}") { title } ${last}: product(productId: "${last}") { title } }`;
  const [readings, imports]: [Promise<any>[], Promise<unknown>[]] = [[], []];
  await importInSteps(store, titled("New"), async () => {
    readings.push(store.graphql(query));
    imports.push(store.post(paths.one, { product: product(last, { title: "Newest" }) }));
    await other.get(paths.of("none")); // another request is answered after those have arrived
  });
  for (const answer of await Promise.all(imports)) expect(answer).toEqual(importedAnswer(0, 1));
  expect(readings.length).toBeGreaterThan(2);
  for (const { data } of await Promise.all(readings)) {
    const listed = data.products.nodes.map(({ title }: { title: string }) => title);
    expect(new Set([...listed, data[first].title])).toEqual(new Set(["New"]));
    expect(["New", "Newest"]).toContain(data[last].title);
  }
  expect((await store.graphql(query)).data[last].title).toBe("Newest");
});

test("products of a long import may pass on their skus across all of its steps, also to a new one", async () => {
  const store = await createTestStore(app);
  const count = longRows;
  const shifted = (by: number) => products(count, (index) => ({ sku: `s${(index + by) % count}` }));
  await store.post(paths.bulk, bulk(shifted(0)));
  const [passed, ...others] = shifted(count - 2);
  const list = [{ ...passed, sku: "fresh" }, ...others, product("new", { sku: passed?.sku })];
  expect(await store.post(paths.bulk, bulk(list))).toEqual(importedAnswer(1, count));
  expect(Object.entries(await storedKeys(app, store))).toEqual(
    [...list.slice(-1), ...list.slice(0, -1)].map(({ id, sku }) => [id, sku]),
  );
});

test("a dry run of a long import reports what it would do, and leaves nothing behind", async () => {
  const store = await createTestStore(app);
  await store.post(paths.one, { product: product("p00001") });
  const { status, body } = await store.post(paths.bulk, { ...bulk(products(longRows)), dryRun: true });
  expect([status, body.created, body.updated]).toEqual([200, longRows - 1, 1]);
  expect(await storedProducts(app, store)).toHaveLength(1);
  expect(await stagedOf(app, store)).toEqual(nothingStaged);
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
  expect(await stagedOf(app, store)).toEqual({ imports: 1, rows: longRows });
  await recoverImports(app.db, "old");
  expect(await stagedOf(app, store), "it may be another process's").toEqual({ imports: 1, rows: longRows });
  await recoverLater(store);
  expect(await stagedOf(app, store)).toEqual(nothingStaged);
  expect(await storedProducts(app, store)).toEqual([]);
});

const importNext = async (store: TestStore) =>
  expect(await store.post(paths.one, { product: product("next") })).toMatchObject({ status: 200 });

test.each<[string, (store: TestStore) => Promise<unknown>]>([
  ["by the sweep of a server", recoverLater],
  ["by the next import of the store", importNext],
])("a committed long import whose process ends is completed %s", async (_, complete) => {
  const store = await createTestStore(app);
  const old = products(longRows, (index) => ({ sku: `s${index}` }));
  expect(await store.post(paths.bulk, bulk(old))).toMatchObject({ status: 200 });
  await recoverLater(store);
  expect(await stagedOf(app, store)).toEqual(nothingStaged);
  const list = products(longRows, (index) => ({ sku: `s${(index + 1) % old.length}`, title: "New" }));
  expect(await importBrokenAt(store, list, 3)).toMatchObject({ code: "UNAVAILABLE" });
  expect(await stagedOf(app, store)).toEqual({ imports: 1, rows: list.length });
  await complete(store);
  const stored = (await storedProducts(app, store)).filter(({ id }) => id !== "next");
  expect(stored.map(({ id, sku, title }) => ({ id, sku, title }))).toEqual(
    list.map(({ id, sku, title }) => ({ id, sku, title })),
  );
  await recoverLater(store);
  expect(await stagedOf(app, store)).toEqual(nothingStaged);
});

test("a long import is carried out once under its key, and its rows are not staged again", async () => {
  const store = await createTestStore(app);
  const list = bulk(products(longRows));
  const again = () => postWithKey(store, paths.bulk, list, "k");
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
  expect(await stagedOf(app, store)).toEqual(nothingStaged);
});
