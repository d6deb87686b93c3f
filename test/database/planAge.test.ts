import { expect, onTestFinished, test } from "vitest";
import { limitPlanAge, openPool } from "../../src/database/pool.js";
import { ofTest } from "../support/citus/recording.js";
import { givenDatabase } from "../support/database/database.js";

const { engine, connection } = givenDatabase();

/** The plan of a prepared statement that was first used while its table was small. */
async function planOfGrownTable(ageMaxMs: number): Promise<string> {
  const { pool } = openPool({ ...connection, max: 1 }, () => undefined);
  onTestFinished(() => pool.end());
  limitPlanAge(pool, ageMaxMs);
  const query = (text: string) => pool.query(ofTest(text));
  await query("CREATE TEMPORARY TABLE growing (id int PRIMARY KEY, filler text)"); // autovacuum cannot analyze it
  await query("INSERT INTO growing VALUES (0, ''); ANALYZE growing");
  await query("SET plan_cache_mode = force_generic_plan");
  const read = { name: "read_growing", text: ofTest("SELECT filler FROM growing WHERE id = $1"), values: [1] };
  await pool.query(read);
  await query("INSERT INTO growing SELECT i, repeat('x', 100) FROM generate_series(1, 20000) AS i");
  await pool.query(read);
  const { rows } = await query("EXPLAIN EXECUTE read_growing(1)");
  return JSON.stringify(rows);
}

test.runIf(engine === "postgres")("the plan for a table that has grown is renewed when it is too old", async () => {
  expect(await planOfGrownTable(3_600_000)).toContain("Seq Scan");
  expect(await planOfGrownTable(0)).toContain("Index Scan");
});
