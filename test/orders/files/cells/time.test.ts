import { expect, test } from "vitest";
import { timeReader } from "../../../../src/orders/files/csvOrders.js";

const timeOf = (text: string, timeZone = "Europe/Berlin", isUtc = false) =>
  timeReader(timeZone)(text, isUtc)?.toISOString();

test.each([
  ["2026-05-04 21:00:00 +0200", "2026-05-04T19:00:00.000Z"],
  ["2026-05-04 21:00:00 +02", "2026-05-04T19:00:00.000Z"],
  ["2026-05-04T21:00:00.250-04:30", "2026-05-05T01:30:00.250Z"],
  ["2026-05-04 19:00:00 UTC", "2026-05-04T19:00:00.000Z"],
  ["2026-05-04T19:00Z", "2026-05-04T19:00:00.000Z"],
  ["2026-05-04 21:00:00", "2026-05-04T19:00:00.000Z"],
  ["2026-01-04 20:00", "2026-01-04T19:00:00.000Z"],
  ["2026-01-04", "2026-01-03T23:00:00.000Z"],
])("%s is %s, of the store's time zone where it names none", (text, moment) => {
  expect(timeOf(text)).toBe(moment);
});

test("a time that clocks show twice is the first one, and one that they skip a later one", () => {
  expect(timeOf("2026-10-25 02:30:00")).toBe("2026-10-25T00:30:00.000Z");
  expect(timeOf("2026-03-29 02:30:00")).toBe("2026-03-29T01:00:00.000Z");
});

test("a column of UTC does not depend on the store's time zone, and a zone of the cell counts in it too", () => {
  expect(timeOf("2026-05-04 21:00:00", "America/New_York", true)).toBe("2026-05-04T21:00:00.000Z");
  expect(timeOf("2026-05-04 21:00:00 +0200", "America/New_York", true)).toBe("2026-05-04T19:00:00.000Z");
  expect(timeOf("2026-05-04 21:00:00", "UTC")).toBe("2026-05-04T21:00:00.000Z");
});

test.each(["", "05/04/2026", "2026-02-30 10:00:00", "2026-05-04 25:00:00", "46146", "yesterday", "2026-05-04 9:00 pm"])(
  "%j is no time",
  (text) => {
    expect(timeOf(text)).toBeUndefined();
  },
);
