import { describe, expect, test } from "vitest";
import { asFailure, failureIn, failureOf } from "../../src/dashboard/connection/failure.js";
import { deviceName } from "../../src/dashboard/format.js";
import { backoffMs } from "../../src/dashboard/connection/reconnect.js";
import { whyRefused } from "../../src/dashboard/session.js";
import { byBeginning, renewed } from "../../src/dashboard/hooks/useShows.js";
import { fillBuckets, spanOf } from "../../src/dashboard/buckets.js";

const minutes = (count: number) => count * 60_000;
const startedAt = "2026-05-04T18:30:20.000Z";
const nowMs = Date.parse(startedAt) + minutes(20);

describe("a timeline's span", () => {
  test.each([
    ["a live show of 20 minutes", minutes(20), 60],
    ["an hour and a half", minutes(90), 60],
    ["two hours", minutes(120), 120],
    ["a day", minutes(1_440), 1_800],
    ["ten years", minutes(5_256_000), 86_400],
  ])("has buckets that fit %s", (_, lengthMs, bucketSeconds) => {
    const live = { status: "LIVE", startedAt, endedAt: null };
    expect(spanOf(live, "show", Date.parse(startedAt) + lengthMs)).toEqual({
      bucketSeconds,
      from: startedAt,
      until: null,
    });
  });

  test("is the show, or everything since its start", () => {
    const ended = { status: "ENDED", startedAt, endedAt: "2026-05-04T19:15:20.000Z" };
    const weekLater = Date.parse(startedAt) + minutes(10_080);
    expect(spanOf(ended, "show", weekLater)).toEqual({ bucketSeconds: 60, from: startedAt, until: ended.endedAt });
    expect(spanOf(ended, "all", weekLater)).toEqual({ bucketSeconds: 7_200, from: startedAt, until: null });
  });
});

describe("a refused token", () => {
  const token = `vt_${"aB3-_".repeat(9)}`.slice(0, 46);

  test.each([
    [token.slice(0, 40), /^The access token is incomplete: it has 40 characters, and should have 46\. Copy the whole/u],
    [`${token}.`, /^The access token is too long: it has 47 characters, and should have 46\./u],
    [token.replace("a", "."), /^The access token is mistyped: it has characters that no token has\./u],
    ["tökén 😀", /^The access token is mistyped/u],
    [token, /^The server does not know this access token: it may be mistyped/u],
    ["a-demo-token", /^The server does not know this access token/u],
  ])("is explained as far as possible: %s", (refused, message) => {
    expect(whyRefused(refused, false)).toMatch(message);
    expect(whyRefused(refused, false)).not.toContain("revoked");
    expect(whyRefused(refused, true)).toContain("it was revoked or has expired");
  });
});

describe("the buckets of a span", () => {
  const bucket = (startsAt: string) => ({ startsAt, viewers: 1, carts: 2, orders: 3, sales: 4.5 });
  const empty = { viewers: 0, carts: 0, orders: 0, sales: 0 };

  test("have no gaps and cover the show", () => {
    const span = { bucketSeconds: 60, from: startedAt, until: "2026-05-04T18:33:00.000Z" };
    expect(fillBuckets([bucket("2026-05-04T18:31:00.000Z")], span, nowMs)).toEqual([
      { startsAtMs: Date.parse("2026-05-04T18:30:00.000Z"), ...empty },
      { startsAtMs: Date.parse("2026-05-04T18:31:00.000Z"), viewers: 1, carts: 2, orders: 3, sales: 4.5 },
      { startsAtMs: Date.parse("2026-05-04T18:32:00.000Z"), ...empty },
    ]);
  });

  test("continue until now where the span has no end, up to the API's maximum", () => {
    const live = { bucketSeconds: 60, from: startedAt, until: null };
    expect(fillBuckets([], live, nowMs), "nothing yet in the minute that has just begun").toHaveLength(20);
    expect(fillBuckets([bucket("2026-05-04T18:50:00.000Z")], live, nowMs)).toHaveLength(21);
    const ancient = { bucketSeconds: 86_400, from: "0001-01-01T00:00:00.000Z", until: null };
    const points = fillBuckets([], ancient, nowMs);
    expect(points).toHaveLength(1_500);
    expect(points.at(-1)?.startsAtMs).toBe(Date.parse("2026-05-03T00:00:00.000Z"));
  });

  test("of a running show have at least as many viewers in the running minute as watch now", () => {
    const live = { bucketSeconds: 60, from: startedAt, until: null };
    const running = bucket("2026-05-04T18:50:00.000Z");
    const last = (watchingNow: number | null) => fillBuckets([running], live, nowMs, watchingNow).slice(-2);
    expect(last(7).map(({ viewers }) => viewers)).toEqual([0, 7]);
    expect(last(null).map(({ viewers }) => viewers)).toEqual([0, 1]);
    const over = { ...live, until: "2026-05-04T18:51:00.000Z" };
    expect(fillBuckets([running], over, nowMs, 7).at(-1)).toMatchObject({ viewers: 1 });
  });

  test("are at least one, for a show without a length or one that has not started", () => {
    expect(fillBuckets([], { bucketSeconds: 60, from: startedAt, until: startedAt }, nowMs)).toHaveLength(1);
    const later = { bucketSeconds: 60, from: "2027-01-01T00:00:00.000Z", until: null };
    expect(fillBuckets([], later, nowMs)).toHaveLength(1);
  });
});

describe("the first page of the list, read again", () => {
  const total = 50;
  /** Shows of a day each: number 1 is the newest. */
  const show = (number: number) => ({
    id: `s${number}`,
    name: "Show",
    status: "LIVE" as const,
    startedAt: new Date(nowMs - minutes(1_440 * number)).toISOString(),
  });
  const shows = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => show(from + index));

  test("is the whole list where there is no next page: removed shows disappear", () => {
    const known = { shows: shows(1, 25), next: null, total };
    expect(renewed(known, { shows: [], next: null, total })).toEqual({ shows: [], next: null, total });
    expect(renewed(known, { shows: shows(3, 3), next: null, total })).toEqual({
      shows: shows(3, 3),
      next: null,
      total,
    });
  });

  test("replaces its span, and later shows stay", () => {
    const known = { shows: shows(1, 40), next: "after 40", total };
    expect(renewed(known, { shows: shows(0, 19), next: "after 19", total })).toEqual({
      shows: shows(0, 40),
      next: "after 40",
      total,
    });
    const page = [...shows(1, 4), ...shows(6, 21)]; // 5 is of another status now
    expect(renewed(known, { shows: page, next: "after 21", total }).shows).toEqual([...shows(1, 4), ...shows(6, 40)]);
    expect(
      renewed({ shows: shows(1, 20), next: "after 20", total }, { shows: shows(1, 20), next: "again", total }).next,
    ).toBe("again");
    expect(renewed(undefined, { shows: shows(1, 20), next: "after 20", total }).shows).toEqual(shows(1, 20));
  });

  test("orders shows that start together by id, descending", () => {
    const [a, b, c] = ["a", "b", "c"].map((id) => ({ ...show(1), id }));
    const known = { shows: [c, b, a].flatMap((one) => one ?? []), next: null, total };
    const page = { shows: known.shows.slice(0, 2), next: "after b", total };
    expect(renewed(known, page)).toEqual(known);
  });
});

test("scheduled shows stay after all others in the list, the next one first", () => {
  const total = 50;
  const scheduled = (id: string, start: string) => ({ id, name: id, status: "SCHEDULED" as const, startedAt: start });
  const begun = { ...scheduled("begun", "2026-05-04T18:00:00Z"), status: "ENDED" as const };
  const [next, last] = [scheduled("next", "2027-01-01T00:00:00Z"), scheduled("last", "2027-01-02T00:00:00Z")];
  const known = { shows: [begun, next, last], next: null, total };
  for (const count of [1, 2]) {
    expect(renewed(known, { shows: known.shows.slice(0, count), next: "more", total })).toEqual(known);
  }
  expect(byBeginning(known.shows)).toEqual({ begun: [begun], scheduled: [next, last] });
});

test.each([
  ["tv", "TV"],
  ["mobile", "Mobile"],
  ["smart tv", "smart TV"],
  ["ipad", "iPad"],
  ["hbbtv", "HbbTV"],
  ["unknown", "Unknown"],
  ["éclair", "Éclair"],
  ["", ""],
])("the device %j is written as people write it", (device, written) => {
  expect(deviceName(device)).toBe(written);
});

describe("failures", () => {
  test("back off exponentially up to 30 seconds, less up to half at random", () => {
    expect([0, 1, 2, 4, 5, 50].map((failures) => backoffMs(failures, 0))).toEqual([
      1_000, 2_000, 4_000, 16_000, 30_000, 30_000,
    ]);
    expect(backoffMs(50, 1)).toBe(15_000);
  });

  test("are classified by error code, with the delay and the request id", () => {
    const error = (code: string, more: object = {}) => ({
      errors: [{ message: "No.", extensions: { code, ...more } }],
    });
    expect(failureIn(error("UNAUTHENTICATED"))).toMatchObject({ kind: "unauthenticated", message: "No." });
    expect(failureIn(error("RATE_LIMITED", { retryAfterSeconds: 7 }))).toMatchObject({
      kind: "rateLimited",
      retryAfterMs: 7_000,
    });
    expect(failureIn(error("INTERNAL", { requestId: "r1" }))).toMatchObject({ kind: "broken", message: "No. (r1)" });
    expect(failureIn({})).toBeUndefined();
  });

  test("are classified by status for a proxy's response, and as unreachable without any", async () => {
    const answer = (status: number, headers = {}) => failureOf(new Response("<html>", { status, headers }));
    expect(await answer(502)).toMatchObject({ kind: "unreachable", message: "The server answered 502." });
    expect(await answer(429, { "retry-after": "30" })).toMatchObject({ kind: "rateLimited", retryAfterMs: 30_000 });
    expect(await answer(401)).toMatchObject({ kind: "unauthenticated" });
    expect(await answer(400)).toMatchObject({ kind: "refused" });
    expect(asFailure(new TypeError("Failed to fetch"))).toMatchObject({ kind: "unreachable" });
  });
});
