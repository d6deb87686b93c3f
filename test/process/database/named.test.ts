// @tier all
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createStore } from "../../../src/access/stores/store.js";
import { importProducts } from "../../../src/catalog/import/ways/list.js";
import { findProduct } from "../../../src/catalog/product/product.lookup.js";
import { readConfig } from "../../../src/config.js";
import { openDatabase } from "../../../src/database/open.js";
import { createMigratedDatabase, type OwnDatabase } from "../../support/database/ownDatabase.js";
import { product } from "../../support/products.js";

describe.runIf(process.env["TEST_DATABASE_URL"] !== undefined)("DATABASE_NAMED_STATEMENTS", () => {
  let own: OwnDatabase;
  beforeAll(async () => {
    own = await createMigratedDatabase("named");
  });
  afterAll(() => own.drop());

  /** The names that a connection has after an import and lookups. */
  async function namesAfterWork(setting: string): Promise<string[]> {
    const variables = { DATABASE_URL: own.url, DATABASE_POOL_MAX: "1", DATABASE_NAMED_STATEMENTS: setting };
    const database = await openDatabase(readConfig(variables), "shared", () => undefined);
    try {
      const { client: db } = database;
      const store = `store-${randomUUID()}`;
      await createStore(db, store, "Store");
      await importProducts(db, store, [product("mug")]);
      expect(await findProduct(db, store, "mug")).toMatchObject({ id: "mug" });
      const rows = await db.$queryRaw<{ name: string }[]>`SELECT name FROM pg_prepared_statements ORDER BY name`;
      return rows.map(({ name }) => name).filter((name) => name !== "");
    } finally {
      await database.close();
    }
  }

  test("true: frequent statements are prepared under a name in their connection", async () => {
    expect(await namesAfterWork("true")).toContain("product_by_id_or_sku");
  });

  test("false: no statement has a name, as poolers in transaction mode require", async () => {
    expect(await namesAfterWork("false")).toEqual([]);
  });
});
