import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createPace } from "../../src/database/migrations/eventMove/pace.js";

test("batches become larger while they are fast", async () => {
  const pace = createPace({ batchMs: 1_000, rowsMax: 3_000 });
  const rows: number[] = [];
  for (let batch = 0; batch < 4; batch += 1) rows.push(await pace.run(() => Promise.resolve(pace.rows)));
  expect(rows).toEqual([500, 1_000, 2_000, 3_000]);
});

test("batches do not become ever smaller where a machine is busy, so that the move ends", async () => {
  const pace = createPace({ batchMs: 1, rowsMax: 3_000 });
  const rows: number[] = [];
  for (let batch = 0; batch < 4; batch += 1) rows.push(await pace.run(() => sleep(10, pace.rows)));
  expect(rows).toEqual([500, 250, 250, 250]);
  const small = createPace({ batchMs: 1, rowsMax: 7 });
  await small.run(() => sleep(10, small.rows));
  expect(small.rows, "a smaller maximum holds").toBe(7);
});
