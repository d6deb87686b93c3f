import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createTestStore, openTestApp } from "../../support/app.js";
import { ofTest } from "../../support/citus/recording.js";
import { until } from "../../support/until.js";
import { bulk, importedAnswer, paths, product } from "../../support/products.js";
import { givenDatabase } from "../../support/database/database.js";

const { engine, connection } = givenDatabase();

const app = await openTestApp();

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
