import { expect, test } from "vitest";
import { deleteStore } from "../../src/stores/store.delete.js";
import { importProducts } from "../../src/catalog/import/entryPoints/jsonProducts.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { ofTest } from "../support/citus/recording.js";
import { newShow } from "../support/figures.js";
import { product } from "../support/products.js";
import { everythingOf } from "../support/stored.js";

const app = await openTestApp();

/** Values by the types of columns; 1 for all numbers. */
const anyValue: Readonly<Record<string, string>> = {
  text: "'any'",
  boolean: "false", // orders that are due would be read by the sweep of another test
  bytea: String.raw`'\x01'`,
  ARRAY: "'{}'",
  "timestamp with time zone": "now()",
  tsvector: "''",
};

/** Gives a store a row in every table; where it belongs to a show, to one with the number 1. */
async function fillTables(store: string): Promise<void> {
  const { lsId } = await newShow(app.db, store);
  const owners: Readonly<Record<string, string>> = {
    storeId: `'${store}'`,
    liveStreamId: `'${lsId}'`,
    from: "'shopify'",
    kind: "'PIN'",
  };
  const rows = await everythingOf(app, { id: store });
  for (const table of Object.keys(rows).filter((name) => rows[name]?.length === 0)) {
    const columns = await app.db.$queryRawUnsafe<{ name: string; type: string }[]>(
      ofTest(`
      SELECT column_name::text AS name, data_type::text AS type FROM information_schema.columns
      WHERE table_schema = current_schema() AND table_name = '${table}' AND is_nullable = 'NO' AND column_default IS NULL`),
    );
    const names = columns.map(({ name }) => `"${name}"`);
    const values = columns.map(({ name, type }) => owners[name] ?? anyValue[type] ?? "1");
    await app.db.$executeRawUnsafe(ofTest(`INSERT INTO "${table}" (${names.join()}) VALUES (${values.join()})`));
  }
}

test("no table has a row of a deleted store", async () => {
  const { id } = await createTestStore(app);
  await fillTables(id);
  const before = Object.values(await everythingOf(app, { id }));
  expect(before.filter((rows) => rows.length === 0)).toEqual([]);
  await deleteStore(app.db, id, 0);
  expect(Object.values(await everythingOf(app, { id })).flat()).toEqual([]);
});

test("an operator's import meanwhile leaves nothing behind", async () => {
  const { id } = await createTestStore(app);
  await importProducts(app.db, id, [product("a")]);
  let isImported = false;
  const db = new Proxy(app.db, {
    get(target, name) {
      if (name !== "site") return Reflect.get(target, name, target); // deleted after products
      const count = () => app.db.site.count({ where: { storeId: id } });
      return { count, deleteMany: () => importProducts(app.db, id, [product("b")]).then(() => (isImported = true)) };
    },
  });
  await deleteStore(db, id, 0);
  expect(isImported).toBe(true);
  expect(Object.values(await everythingOf(app, { id })).flat()).toEqual([]);
});
