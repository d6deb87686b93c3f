import { expect, test } from "vitest";
import { createReadinessCheck } from "../src/http/health.js";
import { testDatabase } from "./support/app.js";

/** The database under test; each of its queries is told of, and may be made to fail. */
function watched(told: () => void) {
  const database = testDatabase();
  const client = new Proxy(database.client, {
    get: (target, name) => {
      if (name === "$queryRaw") told();
      return Reflect.get(target, name, target);
    },
  });
  return { client, close: () => database.close() };
}

test("whoever asks for readiness at the same time, or within the second after, shares one check", async () => {
  let queries = 0;
  const database = watched(() => (queries += 1));
  const check = createReadinessCheck(database.client);
  const ready = { status: "ready", database: "ok" };
  for (const answer of await Promise.all(Array.from({ length: 100 }, check))) expect(answer).toEqual(ready);
  expect(queries).toBe(2);
  const answeredAt = performance.now();
  expect(await check()).toEqual(ready);
  if (performance.now() - answeredAt < 900) expect(queries).toBe(2);
  await expect.poll(async () => (await check(), queries)).toBe(4);
  expect(performance.now() - answeredAt).toBeGreaterThan(900);
  await database.close();
});

test("what is unreachable is found to be so, and found again", async () => {
  let isGone = true;
  const database = watched(() => {
    if (isGone) throw new Error("gone");
  });
  const check = createReadinessCheck(database.client);
  expect(await check()).toEqual({ status: "unavailable", database: "unreachable" });
  isGone = false;
  await expect.poll(check).toEqual({ status: "ready", database: "ok" });
  await database.close();
});
