import { expect, test } from "vitest";
import { createImportSweep } from "../../src/catalog/import/staging/sweep.js";
import { startSweep } from "../../src/lib/sweep.js";
import { within } from "../support/busy.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { until } from "../support/until.js";

const app = await openTestApp();

const expired = new Date(Date.now() - 25 * 3_600_000);
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
  const errors: unknown[] = [];
  let [rounds, atOnce, atOnceMax] = [0, 0, 0];
  const sweep = startSweep({
    everyMs: 1,
    async work() {
      atOnce += 1;
      atOnceMax = Math.max(atOnceMax, atOnce);
      await new Promise((resolve) => setTimeout(resolve, 5));
      atOnce -= 1;
      rounds += 1;
      if (rounds < 3 || rounds === 4) throw new Error(`round ${rounds}`);
    },
    onError: (error) => errors.push(error),
  });
  await until(() => rounds >= 5, "five rounds");
  await sweep.stop();
  const ended = rounds;
  expect({ atOnce, atOnceMax, errors: errors.map(String) }).toEqual({
    atOnce: 0,
    atOnceMax: 1,
    errors: ["Error: round 1", "Error: round 4"],
  });
  await new Promise((resolve) => setTimeout(resolve, 20)); // far longer than a pause between rounds
  expect(rounds).toBe(ended);
});

test("a sweep between rounds stops at once", async () => {
  const begun = performance.now();
  await startSweep({ everyMs: 600_000, work: () => Promise.resolve(), onError: () => undefined }).stop();
  expect(performance.now() - begun).toBeLessThan(within(5_000));
});
