// @engine both
import { expect, test } from "vitest";
import { exportPlaces, exportProducts } from "../../../src/catalog/export/export.js";
import type { RootDatabase } from "../../../src/database/client.js";
import { createTestStore, openConnections, openTestApp, type TestStore } from "../../support/app.js";
import { stopTimers } from "../../support/clock.js";
import { bulk, paths, product, products } from "../../support/products.js";

const app = await openTestApp();

/** More than a page of the embedded engine, and more than one of a cursor. */
const count = 1_001;
const version = (title: string) => bulk(products(count, () => ({ title })));

/** The titles of an export. */
async function exportedTitles(db: RootDatabase, { id }: TestStore): Promise<Set<string>> {
  const pieces: Buffer[] = [];
  for await (const piece of exportProducts(db, id, "ndjson")) pieces.push(piece);
  const lines = Buffer.concat(pieces).toString().trimEnd().split("\n");
  expect(lines).toHaveLength(count);
  return new Set(lines.map((line) => (JSON.parse(line) as { title: string }).title));
}

test("an export keeps what it has read, whatever is imported and deleted before it is received", async () => {
  const store = await createTestStore(app);
  await store.post(paths.bulk, version("v0"));
  const pieces = exportProducts(app.db, store.id, "ndjson");
  const first = await pieces.next();
  await store.post(paths.bulk, version("v1"));
  await store.delete(paths.of("p00000"));
  let text = String(first.value);
  for await (const piece of pieces) text += piece.toString();
  expect(text.match(/"title":"v0"/gu)).toHaveLength(count);
});

// The embedded engine reads again, and at last in one transaction, which nothing changes.
test("an export of a catalog that is replaced three times while it is read has one of its states", async () => {
  const times = 3;
  const store = await createTestStore(app);
  await store.post(paths.bulk, version("v0"));
  const { client, probe } = openConnections();
  let changes = 0;
  probe.aroundQuery = async (sql, send) => {
    const page = await send();
    const isFirstPage = sql.includes("string_agg") ? !sql.includes("p.id >") : sql.startsWith("FETCH") && changes === 0;
    if (isFirstPage && changes < times) {
      changes += 1;
      await store.post(paths.bulk, version(`v${changes}`));
    }
    return page;
  };
  const titles = await exportedTitles(client, store);
  expect([...titles]).toEqual([app.engine === "embedded" ? `v${times}` : "v0"]);
  expect(changes).toBe(app.engine === "embedded" ? times : 1);
});

test("a store has four exports open at most; another store is served meanwhile, and those that are left count no longer", async () => {
  const [store, other] = [await createTestStore(app), await createTestStore(app)];
  for (const each of [store, other]) await each.post(paths.bulk, bulk([product("one")]));
  const openExport = async ({ id }: TestStore) => {
    const pieces = exportProducts(app.db, id, "csv");
    await pieces.next();
    return pieces;
  };
  const open = await Promise.all([store, store, store, store].map(openExport));
  const timers = stopTimers();
  const fifth = openExport(store).catch((error: unknown) => error);
  await expect.poll(() => exportPlaces.waiting).toBe(1);
  timers.pass(5_000);
  expect(await fifth).toMatchObject({ code: "UNAVAILABLE" });
  for (const pieces of [await openExport(other), ...open]) await pieces.return();
  expect(await (await openExport(store)).return()).toMatchObject({ done: true });
});
