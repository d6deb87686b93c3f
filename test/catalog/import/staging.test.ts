// @engine both
import { expect, test } from "vitest";
import { importFrom, type ImportOptions } from "../../../src/catalog/import/import.js";
import type { ProductSource } from "../../../src/catalog/import/importTypes.js";
import { listSource } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import { createImportSweep } from "../../../src/catalog/import/staging/recover.js";
import { createTestStore, openConnections, openTestApp } from "../../support/app.js";
import { ofTest } from "../../support/citus/recording.js";
import { ago } from "../../support/clock.js";
import { nothingStaged, stagedOf } from "../../support/stored.js";
import { until } from "../../support/until.js";
import {
  bulk,
  importedAnswer,
  longRows,
  paths,
  product,
  products,
  storedKeys,
  storedProducts,
} from "../../support/products.js";

const app = await openTestApp();

/** A long list, with something to do after its first chunks have been taken. One of so many bytes is staged on every engine. */
function pausedList(list: readonly object[], pause = () => Promise.resolve(), bytes = 65 * 1024 * 1024) {
  const source = listSource(list, (index) => ["products", index], "REJECT_ALL");
  const state = { readings: 0 };
  const paused: ProductSource = {
    ...source,
    bytes,
    async *read(options) {
      state.readings += 1;
      const reader = source.read(options);
      for (let taken = 0; ; taken += 1) {
        const step = await reader.next();
        if (step.done === true) return step.value;
        if (taken === 3) await pause();
        yield step.value;
      }
    },
  };
  return { source: paused, state };
}

const list = products(4 * longRows);

test("a large import whose rows come slowly keeps nobody waiting: it holds neither the catalog nor a connection", async () => {
  const store = await createTestStore(app);
  const { client, probe } = openConnections();
  const seen: unknown[] = [];
  const { source } = pausedList(list, async () => {
    await until(() => probe.pool.totalCount === probe.pool.idleCount, "the chunk before to be staged");
    seen.push((await stagedOf(app, store)).imports);
    seen.push(await store.post(paths.one, { product: product("other") }));
    seen.push(await store.post(paths.bulk, bulk(products(longRows))));
  });
  expect(await importFrom(client, store.id, source, {})).toMatchObject({ created: 3 * longRows, updated: longRows });
  expect(seen).toEqual([1, importedAnswer(1), importedAnswer(longRows)]);
  expect(await stagedOf(app, store)).toEqual(nothingStaged);
});

const modes = ["UPSERT", "PATCH", "REPLACE"] as const;

test.each(modes)("a right import with the mode %s is read once, and a server stages none of its rows", async (mode) => {
  const store = await createTestStore(app);
  await importFrom(app.db, store.id, pausedList(list).source, {});
  const { client, probe } = openConnections();
  let staged = 0;
  probe.aroundQuery = (sql, send) => {
    if (sql.includes(`INSERT INTO "StagedProduct"`)) staged += 1;
    return send();
  };
  const { source, state } = pausedList(list, undefined, 1);
  const answer = await importFrom(client, store.id, source, { mode, errorPolicy: "REJECT_FAILED" });
  expect(answer).toMatchObject({ updated: list.length, created: 0, deleted: 0, failed: 0 });
  expect(state.readings).toBe(1);
  expect(staged > 0).toBe(app.engine === "embedded");
});

test.each<[string, ImportOptions]>([
  ["is refused", {}],
  ["rejects rows", { errorPolicy: "REJECT_FAILED" }],
  ["is a dry run", { errorPolicy: "REJECT_FAILED", dryRun: true }],
  ["replaces the catalog", { errorPolicy: "REJECT_FAILED", mode: "REPLACE" }],
])(
  "the rows of an import that %s are read once, and by a server once more where its catalog refuses one",
  async (_, options) => {
    const store = await createTestStore(app);
    const { source, state } = pausedList([...list, product("p00001", { sku: "again" })], undefined, 1);
    await importFrom(app.db, store.id, source, options).catch(() => undefined);
    expect(state.readings).toBe(app.engine === "embedded" || options.dryRun === true ? 1 : 2);
    expect(await stagedOf(app, store)).toEqual(nothingStaged);
  },
);

test.each(modes)(
  "an import with the mode %s whose staged rows are lost, as by a crash of the server, changes nothing",
  async (mode) => {
    const store = await createTestStore(app);
    await store.post(paths.bulk, bulk(products(5)));
    const before = await storedKeys(app, store);
    const { source } = pausedList(
      products(4 * longRows, () => ({ title: "New" })),
      async () => {
        await until(async () => (await stagedOf(app, store)).rows > 0, "the first rows to be staged");
        await app.db.$executeRawUnsafe(ofTest(`DELETE FROM "StagedProduct" WHERE "storeId" = $1`), store.id);
      },
    );
    const answer = importFrom(app.db, store.id, source, { mode });
    await expect(answer).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(await storedKeys(app, store)).toEqual(before);
    expect((await storedProducts(app, store)).some(({ title }) => title === "New")).toBe(false);
    expect(await stagedOf(app, store)).toEqual(nothingStaged);
  },
);

test("staged rows are logged only where they must survive a crash: on the embedded engine", async () => {
  const tables = await app.db.$queryRaw<{ relpersistence: string }[]>`
    SELECT relpersistence::text FROM pg_class WHERE relname IN ('StagedImport', 'StagedProduct')`;
  const expected = app.engine === "embedded" ? "p" : "u";
  expect(tables.map(({ relpersistence }) => relpersistence)).toEqual([expected, expected]);
});

test("the sweep removes what imports of ended processes have staged, and nothing of those under way", async () => {
  const [old, young] = [await createTestStore(app), await createTestStore(app)];
  for (const [{ id: storeId }, hours] of [
    [old, 3],
    [young, 1],
  ] as const) {
    const startedAt = ago(hours * 3_600_000);
    await app.db.stagedImport.create({ data: { storeId, id: "left", startedAt } });
    await app.db.stagedProduct.createMany({ data: [1, 2].map((line) => ({ storeId, importId: "left", line })) });
  }
  const sweep = createImportSweep(app.db);
  const going = new AbortController().signal;
  await until(async () => {
    await sweep(going); // of so many stores, and from there on the next time
    return (await stagedOf(app, old)).imports === 0;
  }, "the sweep to come to the store");
  expect(await stagedOf(app, old)).toEqual(nothingStaged);
  expect(await stagedOf(app, young)).toEqual({ imports: 1, rows: 2 });
});
