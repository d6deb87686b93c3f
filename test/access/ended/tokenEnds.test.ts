import { expect, test } from "vitest";
import { TokenEnds } from "../../../src/access/validity/tokenEnds.js";
import { AppError } from "../../../src/errors.js";

test("a token is checked once for all of its requests, also after a failed check, and only these are told", async () => {
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
  await expect
    .poll(() => told)
    .toEqual([
      [1, ended],
      [2, ended],
    ]);
  expect(checks).toBe(2);
  for (const stop of [...stops, stopOther]) stop();
});

test("requests that begin and end leave no timer", () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
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
  expect(timers()).toBe(before + 1);
  second();
  expect(timers()).toBe(before);
});
