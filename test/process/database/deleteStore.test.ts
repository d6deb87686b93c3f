// @engine postgresql
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { deleteStore } from "../../../src/stores/store.delete.js";
import { createStore } from "../../../src/stores/store.js";
import { createMigratedDatabase, type OwnDatabase } from "../../support/database/ownDatabase.js";
import { start, vitrine } from "../../support/process.js";
import { until } from "../../support/until.js";

/** More than one batch of the deletion. */
const products = 6_000;

describe("vitrine store delete on PostgreSQL", () => {
  let own: OwnDatabase;
  beforeEach(async () => {
    own = await createMigratedDatabase("delete_store");
    const tables = ["Product", "ProductSite", "Site", "Store"];
    for (const table of tables) await own.query(`ALTER TABLE "${table}" SET (autovacuum_enabled = false)`);
    return () => own.drop();
  });

  async function addStore(id: string, count: number): Promise<void> {
    const database = own.open();
    await createStore(database.client, id, "A store");
    await database.close();
    await own.query(`INSERT INTO "Site" ("storeId", id, type) VALUES ('${id}', 'at', 'SHOP'), ('${id}', 'de', 'SHOP')`);
    // Without foreign keys, whose plans are as bad as those of a deletion were.
    await own.query(`SET session_replication_role = replica;
      INSERT INTO "Product" ("storeId", id, sku, title, available, images, "featuredImage", url, "searchWords", "createdAt", "updatedAt")
      SELECT '${id}', 'p' || i, 's' || i, 'title', true, '{a}', 'a', 'a', '', now(), now() FROM generate_series(1, ${count}) AS i;
      INSERT INTO "ProductSite" SELECT '${id}', 'p' || i, s FROM generate_series(1, ${count}) AS i, unnest('{at,de}'::text[]) AS s`);
  }

  /** What sessions that have ended have read and deleted of both tables. */
  async function rowsRead(): Promise<{ read: number; deleted: number }> {
    const [row] = await own.query(`SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 AS read,
      sum(n_tup_del)::int AS deleted FROM pg_stat_user_tables WHERE relname IN ('Product', 'ProductSite')`);
    return row;
  }

  const rowsOf = (id: string) =>
    own.query(
      `SELECT (SELECT count(*)::int FROM "Product" WHERE "storeId" = $1) AS products,
      (SELECT count(*)::int FROM "ProductSite" WHERE "storeId" = $1) AS assigned`.replaceAll("$1", `'${id}'`),
    );

  test.each([
    ["while there were none", 0],
    ["while each store had one", 50],
  ])("reads each row a few times where statistics of the products are from the time %s", async (_, others) => {
    for (let n = 0; n < others; n += 1) await addStore(`other-${n}`, 1);
    await own.query("ANALYZE");
    await addStore("large", products);
    await own.query("SELECT pg_stat_force_next_flush()");
    const before = await rowsRead();
    const database = own.open();
    expect(await deleteStore(database.client, "large", 0)).toMatchObject({ products, sites: 2 });
    await database.close(); // its session reports what it has read
    await expect.poll(async () => (await rowsRead()).deleted).toBe(before.deleted + 3 * products);
    expect((await rowsRead()).read - before.read).toBeLessThan(50 * products); // and not the square
    expect(await rowsOf("large")).toEqual([{ products: 0, assigned: 0 }]);
    if (others > 0) expect(await rowsOf("other-0")).toEqual([{ products: 1, assigned: 2 }]);
  });

  test("leaves neither a statement nor a lock where it is killed, and the next one completes it", async () => {
    await addStore("large", 100);
    await own.query(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1); RETURN OLD; END';
      CREATE TRIGGER slow BEFORE DELETE ON "Product" FOR EACH ROW EXECUTE FUNCTION slow()`);
    const command = start(["store", "delete", "large", "--yes"], { DATABASE_URL: own.url });
    onTestFinished(() => void command.process.kill("SIGKILL"));
    const statements = async () =>
      (
        await own.query(
          `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'vitrine'`,
        )
      ).length;
    const locks = async () =>
      (
        await own.query(`SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
        WHERE datname = current_database() AND locktype = 'advisory'`)
      ).length;
    const sleeping = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;
    await until(async () => (await own.query(sleeping)).length > 0, "the deletion of the first product");
    expect(await locks()).toBeGreaterThan(0);
    command.process.kill("SIGKILL");
    await command.ended;
    expect(await statements()).toBeGreaterThan(0);
    await until(async () => (await statements()) + (await locks()) === 0, "both to end");
    await own.query(`DROP TRIGGER slow ON "Product"`);
    expect((await vitrine(["store", "delete", "large", "--yes"], { DATABASE_URL: own.url })).status).toBe(0);
    expect(await rowsOf("large")).toEqual([{ products: 0, assigned: 0 }]);
  });
});
