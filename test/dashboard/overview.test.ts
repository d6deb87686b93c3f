import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { formatHour, formatWeekday } from "../../src/dashboard/format.js";
import {
  groupsOf,
  boundsBefore,
  boundsOf,
  bucketsOfShows,
  fillStoreBuckets,
  problemOfDates,
} from "../../src/dashboard/overview/range.js";
import { setTimeZone, shownAt, timeZone } from "../../src/dashboard/timeZone.js";
import { initialState, queryOf, readView, type View } from "../../src/dashboard/overview/view.js";

beforeEach(() => setTimeZone("Europe/Berlin"));
afterEach(() => setTimeZone("UTC"));

const shown = (ms: number) => new Date(shownAt(ms)).toISOString().slice(0, 19).replace("T", " ");

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
    const local = (iso: string) => shown(Date.parse(iso));
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
    filled(...parameters).map(({ startsAtMs }) => shown(startsAtMs));
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

describe("this month", () => {
  test.each([
    ["2026-11-03T10:20:30.000Z", "2026-10-31T23:00:00.000Z", "2026-09-30T22:00:00.000Z", "2026-10-03T09:21:00.000Z"],
    ["2027-01-05T12:00:10.000Z", "2026-12-31T23:00:00.000Z", "2026-11-30T23:00:00.000Z", "2026-12-05T12:01:00.000Z"],
    ["2026-03-31T12:00:10.000Z", "2026-02-28T23:00:00.000Z", "2026-01-31T23:00:00.000Z", "2026-02-28T23:00:00.000Z"],
  ])("until %s is compared with the month before until the same day and time of day", (now, from, start, end) => {
    const bounds = boundsOf("month", Date.parse(now));
    expect(bounds.from).toBe(from);
    expect(boundsBefore("month", bounds)).toEqual({ from: start, until: end });
    expect(boundsBefore(28, bounds)).toBeUndefined();
  });
});

describe("shows of a range", () => {
  const show = (startedAt: string, host: string | null, netSales: number) => ({
    startedAt,
    host: host === null ? null : { name: host },
    kpis: { netSales: { total: netSales }, orders: { total: 1 }, viewers: { total: 10 } },
  });
  const shows = [
    show("2026-11-02T18:30:00.000Z", "Alex", 10), // 19:30 of Monday
    show("2026-11-01T23:30:00.000Z", "Sam", 25), // 0:30 of Monday
    show("2026-10-31T23:30:00.000Z", "Alex", 5), // 0:30 of Sunday
    show("2026-10-31T19:00:00.000Z", null, -1), // 20:00 of Saturday
  ];

  test("are added up by host, and by weekday and hour of the store", () => {
    const keys = (by: "host" | "weekday" | "hour") =>
      groupsOf(shows, by).map(({ key, shows: count, netSales }) => [key, count, netSales]);
    expect(groupsOf(shows, "host")[1]).toEqual({ key: "Alex", shows: 2, netSales: 15, orders: 2, viewers: 20 });
    expect(keys("host")).toEqual([
      ["Sam", 1, 25],
      ["Alex", 2, 15],
      ["", 1, -1],
    ]);
    expect(keys("weekday")).toEqual([
      [0, 2, 35],
      [5, 1, -1],
      [6, 1, 5],
    ]);
    expect(keys("hour")).toEqual([
      [0, 2, 30],
      [19, 1, 10],
      [20, 1, -1],
    ]);
    expect([formatWeekday(0), formatWeekday(6), formatHour(19)]).toEqual(["Monday", "Sunday", "19:00"]);
  });

  test("are in the bucket of their start, without gaps", () => {
    const bounds = { from: "2026-10-30T23:00:00.000Z", until: "2026-11-03T23:00:00.000Z", bucket: "DAY" } as const;
    const points = bucketsOfShows(shows, bounds).map(({ startsAtMs, ...figures }) => [shown(startsAtMs), figures]);
    expect(points).toEqual([
      ["2026-10-31 00:00:00", { netSales: -1, viewers: 10 }],
      ["2026-11-01 00:00:00", { netSales: 5, viewers: 10 }],
      ["2026-11-02 00:00:00", { netSales: 35, viewers: 20 }],
      ["2026-11-03 00:00:00", { netSales: 0, viewers: 0 }],
    ]);
  });
});

test("a time zone that the browser does not know is UTC", () => {
  setTimeZone("Mars/Olympus");
  expect(timeZone()).toBe("UTC");
  expect(boundsOf(7, nowMs)).toMatchObject({ from: "2026-10-28T00:00:00.000Z", timeZone: "UTC" });
});

describe("an address", () => {
  test("contains what differs from the defaults, and restores it", () => {
    const views: readonly (readonly [string, View])[] = [
      ["?", { kind: "overview", state: initialState }],
      ["?show=a+b%26c", { kind: "show", lsId: "a b&c" }],
      [
        "?days=month&chart=netSales&by=hour",
        { kind: "overview", state: { ...initialState, range: "month", chart: "netSales", by: "hour" } },
      ],
      ["?wall=", { kind: "wall", lsId: undefined }],
      ["?wall=&show=a", { kind: "wall", lsId: "a" }],
      ["?compare=a&compare=b", { kind: "comparison", lsIds: ["a", "b"] }],
      [
        "?days=90&order=name",
        { kind: "overview", state: { ...initialState, range: 90, order: "name", isAscending: true } },
      ],
      [
        "?from=2026-01-31&until=2026-02-28&chart=orders&order=sales&search=knit+club&products=carts&by=weekday&reverse=1&after=x%3D&page=3&pick=a&pick=b",
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
            by: "weekday",
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
