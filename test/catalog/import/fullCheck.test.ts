import { expect, onTestFinished, test } from "vitest";
import pg from "pg";
import { addSite } from "../../../src/access/stores/site.js";
import { listSource } from "../../../src/catalog/import/list.js";
import { importWithFullCheck } from "../../../src/catalog/import/fullCheck.js";
import { inTransaction } from "../../../src/database/transaction.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { ofTest } from "../../support/citus/recording.js";
import { until } from "../../support/process.js";
import { bulk, importedAnswer, paths, product, products, storedProducts } from "../../support/products.js";
import { givenDatabase } from "../../support/database.js";

const { engine, connection } = givenDatabase();

const app = await openTestApp();

test("an import that is valid after a complete check assigns its products to the site", async () => {
  const store = await createTestStore(app);
  await addSite(app.db, store.id, "de", "SHOP");
  const job = {
    target: { storeId: store.id, siteId: "de" },
    source: listSource(products(3), (index) => ["products", index], "REJECT_ALL"),
    mode: "UPSERT" as const,
    maxDeletions: undefined,
    errorPolicy: "REJECT_ALL" as const,
    dryRun: false,
    once: () => Promise.reject(new Error("No key is looked up here.")),
    signal: undefined,
  };
  const now = new Date().toISOString();
  const counts = await inTransaction(app.db, { timeoutMs: 60_000 }, (transaction) =>
    importWithFullCheck(transaction, job, () => Promise.resolve(now)),
  );
  expect(counts).toEqual({ stored: 3, created: 3 });
  expect((await storedProducts(app, store)).map(({ id, sites }) => [id, sites])).toEqual(
    products(3).map(({ id }) => [id, ["de"]]),
  );
});

test.runIf(engine === "postgres")("a short import takes row locks in the order of ids, not of its list", async () => {
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
