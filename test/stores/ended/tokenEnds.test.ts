import { expect, test, vi } from "vitest";
import { TokenEnds } from "../../../src/stores/validity/validity.js";
import { AppError } from "../../../src/errors.js";
import { stopTimers } from "../../support/clock.js";

test("a token is checked once for all of its requests, also after a failed check, and only these are told", async () => {
  const timers = stopTimers();
  const ends = new TokenEnds();
  let checks = 0;
  const ended = new AppError("UNAUTHENTICATED", "The access token is not valid.");
  const check = () => {
    checks += 1;
    return Promise.reject(checks === 1 ? new AppError("UNAVAILABLE", "Not now.") : ended);
  };
  const told: [request: number, error: AppError][] = [];
  const stops = [1, 2, 3].map((request) => ends.watch("1", check, (error) => told.push([request, error])));
  stops[2]?.();
  const stopOther = ends.watch(
    "2",
    () => Promise.resolve(),
    (error) => told.push([4, error]),
  );
  await timers.run(1_500);
  expect([checks, told]).toEqual([1, []]);
  await timers.run(1_500);
  expect([checks, told]).toEqual([
    2,
    [
      [1, ended],
      [2, ended],
    ],
  ]);
  for (const stop of [...stops, stopOther]) stop();
});

test("requests that begin and end leave no timer", () => {
  stopTimers();
  const ends = new TokenEnds();
  const watch = () =>
    ends.watch(
      "1",
      () => Promise.resolve(),
      () => undefined,
    );
  const [first, second] = [watch(), watch()];
  first();
  first();
  expect(vi.getTimerCount()).toBe(1);
  second();
  expect(vi.getTimerCount()).toBe(0);
});
