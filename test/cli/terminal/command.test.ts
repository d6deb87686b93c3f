import { expect, test } from "vitest";
import { parseDuration, parseFuture, parsePast } from "../../../src/cli/terminal/command.js";

test("a duration is a whole number with a unit", () => {
  const given = ["0", "90s", "15m", "24h", "7d"];
  expect(given.map((text) => parseDuration(text))).toEqual([0, 90_000, 900_000, 86_400_000, 604_800_000]);
});

test.each(["", "5", "24", "-1h", "1.5h", "5y", "1h30m", " 1h", "1 h", "9999999d"])(
  "the duration %j is refused",
  (text) => {
    expect(() => parseDuration(text)).toThrow("Give a duration like 90s, 15m, 24h or 7d.");
  },
);

test.each([
  ["2999-01-31T12:00:00+02:00", "2999-01-31T10:00:00Z"],
  ["2999-01-31t12:00:00z", "2999-01-31T12:00:00Z"],
  ["2999-01-31", "2999-01-31T00:00:00Z"],
])("a time is ISO 8601, with or without a time of day: %s", (text, time) => {
  expect(parseFuture(text)).toEqual(new Date(time));
});

test.each([
  "",
  "yesterday",
  "2999",
  "2999-13-01",
  "31.12.2999",
  "2999-01-31T25:00:00Z",
  "2999-02-30T00:00:00Z",
  "2999-01-31 (noon)",
])("the time %j is refused", (text) => {
  expect(() => parseFuture(text)).toThrow("Give an ISO 8601 time like 2030-01-31T00:00:00Z.");
});

test("a time lies in the future where something is to end, and in the past where something has", () => {
  expect(() => parseFuture("2020-01-01T00:00:00Z")).toThrow("The time is in the past.");
  expect(() => parsePast("2999-01-01")).toThrow("The time is in the future.");
});
