import { expect, test } from "vitest";
import { createReadinessCheck } from "../../src/http/health.js";
import { openConnections, startApp, testDatabase } from "../support/app.js";
import { givenDatabase } from "../support/database/database.js";

const ready = { status: "ready", database: "ok" };

/** The database under test; each time that it is asked is told of, and may be made to fail. */
function watched(told: () => void) {
  const { readiness } = openConnections();
  const findFault = async () => {
    told();
    return readiness.findFault();
  };
  return { ...readiness, findFault };
}

test("readiness requests at the same time, or within a second, share one check", async () => {
  let asked = 0;
  const check = createReadinessCheck(watched(() => (asked += 1)));
  for (const answer of await Promise.all(Array.from({ length: 100 }, check))) expect(answer).toEqual(ready);
  expect(asked).toBe(1);
  const answeredAt = performance.now();
  expect(await check()).toEqual(ready);
  if (performance.now() - answeredAt < 900) expect(asked).toBe(1);
  await expect.poll(async () => (await check(), asked)).toBe(2);
  expect(performance.now() - answeredAt).toBeGreaterThan(900);
});

test("an unreachable service is detected, and so is its return", async () => {
  let isGone = true;
  const check = createReadinessCheck(
    watched(() => {
      if (isGone) throw new Error("gone");
    }),
  );
  expect(await check()).toEqual({ status: "unavailable", database: "unreachable" });
  isGone = false;
  await expect.poll(check).toEqual(ready);
});

test.runIf(givenDatabase().engine === "postgres")("the service is ready while all connections are busy", async () => {
  const database = testDatabase();
  const app = await startApp({}, database);
  const isReady = async () => (await fetch(`${app.url}/readyz`)).status;
  let running = 0;
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const busy = Array.from({ length: database.connection.max ?? 10 }, () =>
    database.client.$transaction(() => ((running += 1), ended)),
  );
  await expect.poll(() => running).toBe(busy.length);
  expect(await isReady()).toBe(200);
  end();
  await Promise.all(busy);
  await app.close();
});
