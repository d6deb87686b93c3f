import { expect, test } from "vitest";
import { createReadinessCheck } from "../../../src/server/http/health.js";
import { openConnections } from "../../support/app.js";
import { stopClock } from "../../support/clock.js";

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
  const clock = stopClock();
  let asked = 0;
  const check = createReadinessCheck(watched(() => (asked += 1)));
  for (const answer of await Promise.all(Array.from({ length: 100 }, check))) expect(answer).toEqual(ready);
  clock.pass(999);
  expect(await check()).toEqual(ready);
  expect(asked).toBe(1);
  clock.pass(1);
  expect(await check()).toEqual(ready);
  expect(asked).toBe(2);
});

test("an unreachable service is detected, and so is its return", async () => {
  const clock = stopClock();
  let isGone = true;
  const check = createReadinessCheck(
    watched(() => {
      if (isGone) throw new Error("gone");
    }),
  );
  expect(await check()).toEqual({ status: "unavailable", database: "unreachable" });
  isGone = false;
  clock.pass(1_000);
  expect(await check()).toEqual(ready);
});
