import { expect, test } from "vitest";
import { createImportSweep } from "../../src/catalog/import/staging/recover.js";
import { startSweep } from "../../src/lib/sweep.js";
import { pause } from "../../src/lib/timers.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { ago, stopTimers } from "../support/clock.js";

const app = await openTestApp();

const expired = ago(25 * 3_600_000);
const going = new AbortController().signal;

async function storeWithKeys(count: number, createdAt: Date) {
  const { id: storeId } = await createTestStore(app);
  const rest = { storeId, field: "f", fingerprint: "p", answer: "{}", createdAt };
  await app.db.idempotencyKey.createMany({
    data: Array.from({ length: count }, (_, n) => ({ ...rest, key: `k${n}` })),
  });
  return () => app.db.idempotencyKey.count({ where: { storeId } });
}

test("expired idempotency keys of idle stores are removed, and no others", async () => {
  const [many, few, fresh] = [
    await storeWithKeys(250, expired),
    await storeWithKeys(1, expired),
    await storeWithKeys(3, new Date()),
  ];
  const sweep = createImportSweep(app.db);
  for (let round = 0; round < 20 && (await many()) + (await few()) > 0; round += 1) await sweep(going);
  expect([await many(), await few(), await fresh()]).toEqual([0, 0, 3]);
});

test("a stopped sweep removes nothing more", async () => {
  const keys = await storeWithKeys(2, expired);
  await createImportSweep(app.db)(AbortSignal.abort());
  expect(await keys()).toBe(2);
});

test("a sweep continues after failed rounds, reports the first of those in a row, runs one at a time, and ends when it is stopped", async () => {
  const timers = stopTimers();
  const errors: unknown[] = [];
  let [rounds, atOnce, atOnceMax] = [0, 0, 0];
  const sweep = startSweep({
    everyMs: 1_000,
    async work() {
      atOnce += 1;
      atOnceMax = Math.max(atOnceMax, atOnce);
      await pause(5_000);
      atOnce -= 1;
      rounds += 1;
      if (rounds < 3 || rounds === 4) throw new Error(`round ${rounds}`);
    },
    onError: (error) => errors.push(error),
  });
  await timers.run(5 * 6_500); // after half a second to one and a half, each
  expect(rounds).toBeGreaterThanOrEqual(5);
  const stopped = sweep.stop();
  await timers.run(5_000);
  await stopped;
  const ended = rounds;
  expect({ atOnce, atOnceMax, errors: errors.map(String) }).toEqual({
    atOnce: 0,
    atOnceMax: 1,
    errors: ["Error: round 1", "Error: round 4"],
  });
  await timers.run(60_000);
  expect(rounds).toBe(ended);
});

test("a sweep between rounds stops at once", async () => {
  stopTimers();
  const sweep = startSweep({ everyMs: 600_000, work: () => Promise.resolve(), onError: () => undefined });
  expect(await sweep.stop()).toBeUndefined();
});
