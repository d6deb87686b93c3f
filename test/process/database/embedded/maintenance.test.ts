// @tier all
import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { importProducts } from "../../../../src/catalog/import/ways/list.js";
import { readConfig } from "../../../../src/config.js";
import { openDatabase } from "../../../../src/database/open.js";
import { createTestStore } from "../../../support/app.js";
import { migratedPlaceForTest } from "../../../support/process.js";
import { until } from "../../../support/until.js";
import { products } from "../../../support/products.js";

const rows = 700;
const imports = 5;
const megabyte = 1024 * 1024;

test("the embedded engine keeps its log short, its tables small and its statistics true while products are replaced", async () => {
  const { dataDir } = await migratedPlaceForTest();
  const problems: Error[] = [];
  const log = (problem: Error): void => void problems.push(problem);
  const database = await openDatabase(readConfig({ DATA_DIR: dataDir }), "exclusive", log);
  onTestFinished(() => database.close());
  const db = database.client;
  const { id } = await createTestStore({ url: "", db });
  const state = async () => {
    const [found] = await db.$queryRaw<
      [{ written: number; log: number; living: number; dead: number; estimate: number }]
    >`
      SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS written,
        pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 AS log,
        n_live_tup::int AS living, n_dead_tup::int AS dead, reltuples::int AS estimate
      FROM pg_control_checkpoint(), pg_stat_user_tables JOIN pg_class c ON c.oid = relid
      WHERE c.oid = '"Product"'::regclass`;
    return found;
  };
  const begun = await state();
  for (let round = 0; round < imports; round += 1) {
    await importProducts(
      db,
      id,
      products(rows, () => ({ description: randomBytes(8_000).toString("hex") })),
    );
  }
  const ended = await state();
  expect(ended.written - begun.written, "so that a log that is kept would be too long").toBeGreaterThan(80 * megabyte);
  expect(ended.log).toBeLessThan(64 * megabyte);
  await until(async () => (await state()).dead <= rows, "dead rows to be removed");
  expect((await state()).estimate).toBeGreaterThan(rows / 2);
  expect(problems).toEqual([]);
});
