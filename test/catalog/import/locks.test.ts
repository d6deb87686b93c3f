// @engine postgresql
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { importProducts } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import { createTestStore, openConnections, openTestApp } from "../../support/app.js";
import { ofTest } from "../../support/citus/recording.js";
import { postWithKey, writersOf } from "../../support/http/idempotency.js";
import { until } from "../../support/until.js";
import { bulk, importedAnswer, longRows, paths, product, products } from "../../support/products.js";
import { givenDatabase } from "../../support/database/database.js";

const { connection } = givenDatabase();

const app = await openTestApp();

test("a short import takes row locks in the order of ids, not of its list", async () => {
  const store = await createTestStore(app);
  await store.post(paths.bulk, bulk(["a", "m", "z"].map((id) => product(id))));
  const [holder, other] = [new pg.Client(connection), new pg.Client(connection)];
  for (const client of [holder, other]) {
    await client.connect();
    onTestFinished(() => client.end());
  }
  const lock = (client: pg.Client, id: string) =>
    client.query(ofTest(`SELECT FROM "Product" WHERE "storeId" = '${store.id}' AND id = '${id}' FOR UPDATE NOWAIT`));
  const isLocked = (id: string) =>
    lock(other, id).then(
      () => false,
      () => true,
    );
  await holder.query("BEGIN");
  await lock(holder, "m");
  const importing = store.post(paths.bulk, bulk(["z", "m", "a"].map((id) => product(id))));
  await until(() => isLocked("a"), "the import to have the first row");
  expect(await isLocked("z")).toBe(false);
  await holder.query("ROLLBACK");
  expect(await importing).toEqual(importedAnswer(0, 3));
});

test("a long import that is invalid from its start does not wait for other imports of its store", async () => {
  const store = await createTestStore(app);
  const holder = new pg.Client(connection);
  await holder.connect();
  onTestFinished(() => holder.end());
  const locked = `long import ${store.id}`;
  await holder.query(ofTest("SELECT pg_advisory_lock(hashtextextended($1, 0))"), [locked]);
  const { client, probe } = openConnections();
  let stored = 0;
  const tried = new Promise<void>((resolve) => {
    probe.aroundQuery = (sql, send) => {
      if (sql.includes("pg_try_advisory_xact_lock")) resolve();
      return send();
    };
  });
  const waiting = importProducts(client, store.id, products(longRows)).then(({ imported }) => (stored = imported));
  await tried;
  for (const invalid of [1, longRows]) {
    const list = products(longRows, (index) => (index < invalid ? { price: -1 } : {}));
    await expect(importProducts(client, store.id, list)).rejects.toMatchObject({
      code: "VALIDATION_FAILED",
      problemsTotal: invalid,
    });
  }
  expect(stored).toBe(0);
  await holder.query(ofTest("SELECT pg_advisory_unlock(hashtextextended($1, 0))"), [locked]);
  await waiting;
  expect(stored).toBe(longRows);
});

test("the answer under a key is stored by the transaction that stores the products: never one without the other", async () => {
  const store = await createTestStore(app);
  await postWithKey(store, paths.bulk, bulk(products(longRows)), "k"); // by several statements
  expect(await writersOf(app, store)).toHaveLength(1);
});

test("a short import keeps long ones out of the catalog while it writes", async () => {
  const store = await createTestStore(app);
  const { client, probe } = openConnections();
  const isFree = ofTest("SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS free");
  const seen: unknown[] = [];
  probe.aroundQuery = async (sql, send) => {
    const result = await send();
    if (sql.includes(`INSERT INTO "Product" (`)) {
      seen.push(...(await app.db.$queryRawUnsafe<object[]>(isFree, `catalog ${store.id}`)));
    }
    return result;
  };
  await importProducts(client, store.id, products(2));
  expect(seen).toEqual([{ free: false }]);
});
