import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { boundsOf, fillStoreBuckets, problemOfDates } from "../../src/dashboard/overview/range.js";
import { initialState, queryOf, readView, type View } from "../../src/dashboard/overview/view.js";

const { TZ: zone } = process.env;
beforeEach(() => {
  process.env["TZ"] = "Europe/Berlin";
});
afterEach(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

const nowMs = Date.parse("2026-11-03T10:20:30.000Z");

describe("a range", () => {
  test("of the last days begins at local midnight and ends with this minute", () => {
    expect(boundsOf(28, nowMs)).toEqual({
      from: "2026-10-06T22:00:00.000Z", // clocks change on October 25
      until: "2026-11-03T10:21:00.000Z",
      timeZone: "Europe/Berlin",
      bucket: "DAY",
    });
  });

  test.each([
    ["a day", "2026-11-02", "2026-11-02", "HOUR"],
    ["a quarter", "2026-07-01", "2026-09-30", "DAY"],
    ["a year", "2025-01-01", "2025-12-31", "WEEK"],
    ["three years", "2023-01-01", "2025-12-31", "MONTH"],
  ])("of custom dates includes both days, with suitable buckets: %s", (_, firstDay, lastDay, bucket) => {
    const bounds = boundsOf({ firstDay, lastDay }, nowMs);
    expect(bounds).toMatchObject({ bucket });
    const local = (iso: string) => new Date(iso).toLocaleString("sv");
    const next = new Date(`${lastDay}T12:00:00Z`);
    next.setUTCDate(next.getUTCDate() + 1);
    expect(local(bounds.from)).toBe(`${firstDay} 00:00:00`);
    expect(local(bounds.until)).toBe(`${next.toISOString().slice(0, 10)} 00:00:00`);
  });

  test("in the future is empty, and today ends with this minute", () => {
    const ahead = boundsOf({ firstDay: "2027-01-01", lastDay: "2027-01-31" }, nowMs);
    expect(ahead.until).toBe(ahead.from);
    expect(boundsOf({ firstDay: "2026-11-01", lastDay: "2026-11-30" }, nowMs).until).toBe("2026-11-03T10:21:00.000Z");
  });

  test("is refused where the API would refuse it", () => {
    expect(problemOfDates({ firstDay: "2026-11-02", lastDay: "2026-11-02" })).toBeUndefined();
    expect(problemOfDates({ firstDay: "2021-11-03", lastDay: "2026-11-02" })).toBeUndefined();
    expect(problemOfDates({ firstDay: "2021-11-03", lastDay: "2026-11-03" })).toContain("at most 5 years");
    expect(problemOfDates({ firstDay: "2026-11-03", lastDay: "2026-11-02" })).toContain("before the first");
    expect(problemOfDates({ firstDay: "2026-02-30", lastDay: "2026-11-02" })).toBe("Enter both days.");
    expect(problemOfDates({ firstDay: "", lastDay: "2026-11-02" })).toBe("Enter both days.");
  });
});

test("buckets have no gaps: local days, hours that a clock shows twice, weeks from Monday, months", () => {
  const filled = (firstDay: string, lastDay: string, bucket: "HOUR" | "DAY" | "WEEK" | "MONTH", buckets: any[] = []) =>
    fillStoreBuckets(buckets, { ...boundsOf({ firstDay, lastDay }, nowMs), bucket });
  const starts = (...parameters: Parameters<typeof filled>) =>
    filled(...parameters).map(({ startsAtMs }) => new Date(startsAtMs).toLocaleString("sv"));
  expect(
    filled("2026-10-24", "2026-10-26", "DAY", [
      { startsAt: "2026-10-24T22:00:00.000Z", orders: 1, sales: 2, carts: 3 },
    ]),
  ).toEqual([
    { startsAtMs: Date.parse("2026-10-23T22:00:00.000Z"), orders: 0, sales: 0, carts: 0 },
    { startsAtMs: Date.parse("2026-10-24T22:00:00.000Z"), orders: 1, sales: 2, carts: 3 },
    { startsAtMs: Date.parse("2026-10-25T23:00:00.000Z"), orders: 0, sales: 0, carts: 0 },
  ]);
  expect(starts("2026-10-25", "2026-10-25", "HOUR")).toHaveLength(25);
  expect(starts("2026-03-29", "2026-03-29", "HOUR")).toHaveLength(23);
  expect(starts("2026-10-01", "2026-10-12", "WEEK")).toEqual([
    "2026-09-28 00:00:00",
    "2026-10-05 00:00:00",
    "2026-10-12 00:00:00",
  ]);
  expect(starts("2026-01-31", "2026-03-01", "MONTH")).toEqual([
    "2026-01-01 00:00:00",
    "2026-02-01 00:00:00",
    "2026-03-01 00:00:00",
  ]);
});

describe("an address", () => {
  test("contains what differs from the defaults, and restores it", () => {
    const views: readonly (readonly [string, View])[] = [
      ["?", { kind: "overview", state: initialState }],
      ["?show=a+b%26c", { kind: "show", lsId: "a b&c" }],
      ["?compare=a&compare=b", { kind: "comparison", lsIds: ["a", "b"] }],
      [
        "?days=90&order=name",
        { kind: "overview", state: { ...initialState, range: 90, order: "name", isAscending: true } },
      ],
      [
        "?from=2026-01-31&until=2026-02-28&chart=orders&order=sales&search=knit+club&products=carts&reverse=1&after=x%3D&page=3&pick=a&pick=b",
        {
          kind: "overview",
          state: {
            range: { firstDay: "2026-01-31", lastDay: "2026-02-28" },
            chart: "orders",
            order: "sales",
            isAscending: true,
            search: "knit club",
            after: "x=",
            page: 3,
            products: "carts",
            picked: ["a", "b"],
          },
        },
      ],
    ];
    for (const [query, view] of views) {
      expect(queryOf(view)).toBe(query);
      expect(readView(query)).toEqual(view);
    }
  });

  test("that is mistyped shows the defaults", () => {
    const query =
      "?days=12&from=2026-02-30&until=2026-03-01&chart=x&order=__proto__&products=toString&page=-1&compare=a&other=1";
    expect(readView(query)).toEqual({ kind: "overview", state: initialState });
  });
});
