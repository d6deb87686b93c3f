import { expect, test } from "vitest";
import { setStore } from "../../../src/stores/store.js";
import { createTestStore, openTestApp, testDatabase } from "../../support/app.js";
import { order, view } from "../../support/events.js";
import { limitHeaders, sendGraphQL } from "../../support/access/rateLimit.js";
import { recorded, saved } from "../../support/shows.js";

const statements: string[] = [];
const app = await openTestApp(
  {},
  testDatabase((sql) => statements.push(sql)),
);

const read = `query ($from: DateTime!, $until: DateTime!, $timeZone: String) {
  storeAnalytics(from: $from, until: $until, timeZone: $timeZone) {
    showCount kpis { sales { total } } timeline { startsAt orders } topShows { id kpis { orders { total } } }
    previous { showCount kpis { sales { total } } }
  }
}`;
const may = { from: "2026-05-01T00:00:00Z", until: "2026-06-01T00:00:00Z" };

test.each<readonly [field: string, variables: object, message: string]>([
  ["until", { from: may.until, until: may.from }, "until must be at or after from, not 2026-05-01T00:00:00.000Z."],
  [
    "until",
    { ...may, until: "2031-05-01T00:00:00.001Z" },
    "until must be at most 5 years after from, not 2031-05-01T00:00:00.001Z.",
  ],
  ...["", "Nowhere/Land", "+02:00", "\u0000"].map(
    (timeZone) =>
      [
        "timeZone",
        { ...may, timeZone },
        `timeZone must be an IANA time zone, such as Europe/Berlin, not ${JSON.stringify(timeZone)}.`,
      ] as const,
  ),
])("an invalid %s is refused with its path: %j", async (field, variables, message) => {
  const store = await createTestStore(app);
  const { data, errors } = await store.graphql(read, variables).catch((error: unknown) => {
    const [, body = "{}"] = /^GraphQL answered 400: (.*)$/u.exec((error as Error).message) ?? [];
    return JSON.parse(body) as { data: unknown; errors: any[] };
  });
  expect(data).toEqual({ storeAnalytics: null });
  expect(errors?.[0].extensions).toMatchObject({
    code: "VALIDATION_FAILED",
    errors: [{ code: "VALIDATION_FAILED", path: [field], message }],
  });
});

test("five years and no time at all are ranges; the default is the time zone of the store, also for null", async () => {
  const store = await createTestStore(app);
  for (const range of [
    { ...may, until: "2031-05-01T00:00:00Z", timeZone: null },
    { from: may.from, until: may.from },
    { from: "0001-01-01T00:00:00Z", until: "0005-01-01T00:00:00Z", timeZone: "europe/berlin" },
    { from: "9999-01-01T00:00:00Z", until: "9999-12-31T00:00:00Z" },
  ]) {
    expect(await store.graphql(read, range)).toMatchObject({ data: { storeAnalytics: { showCount: 0 } } });
  }
});

test("days are those of the store's time zone unless another one is given, and of none that a browser does not know", async () => {
  const store = await createTestStore(app);
  const { id } = await saved(store);
  await recorded(store, id, [order("a", 10, { occurredAt: "2026-05-04T21:30:00Z" })]);
  const daysOf = async (variables: object = {}) => {
    const { data } = await store.graphql(read, { ...may, ...variables });
    return data.storeAnalytics.timeline.map(({ startsAt }: any) => startsAt);
  };
  expect(await daysOf()).toEqual(["2026-05-04T00:00:00.000Z"]);
  await setStore(app.db, store.id, { timeZone: "asia/tokyo" });
  expect((await store.graphql("{ store { timeZone } }")).data).toEqual({ store: { timeZone: "Asia/Tokyo" } });
  expect(await daysOf({ timeZone: null })).toEqual(["2026-05-04T15:00:00.000Z"]);
  expect(await daysOf({ timeZone: "Etc/Unknown" })).toEqual(["2026-05-04T15:00:00.000Z"]);
  expect(await daysOf({ timeZone: "America/New_York" })).toEqual(["2026-05-04T04:00:00.000Z"]);
});

test.each<readonly [name: string, range: readonly [string, string], before: readonly [string, string]]>([
  ["an hour: the day before", ["2026-11-04T09:00Z", "2026-11-04T10:00Z"], ["2026-11-03T09:00Z", "2026-11-03T10:00Z"]],
  ["28 days that end now", ["2026-10-31T23:00Z", "2026-11-28T14:07Z"], ["2026-10-03T22:00Z", "2026-10-31T14:07Z"]],
])("the range before %s, at the same time of day and weekday of Berlin", async (_, [from, until], before) => {
  const store = await createTestStore(app);
  await setStore(app.db, store.id, { timeZone: "Europe/Berlin" });
  const ends = (times: readonly string[]) => times.map((time) => new Date(time).toISOString());
  const [start, end] = ends([from, until]);
  const { data } = await store.graphql(
    `{ storeAnalytics(from: "${start}", until: "${end}") { from until previous { from until } } }`,
  );
  const { previous, ...range } = data.storeAnalytics;
  expect([range.from, range.until, previous.from, previous.until]).toEqual(ends([from, until, ...before]));
});

test("it is one analytics read, and one statement for each part, whatever the number of shows", async () => {
  const store = await createTestStore(app);
  for (let n = 0; n < 5; n += 1) {
    const { id } = await saved(store);
    await recorded(store, id, [order("a", 10, { occurredAt: "2026-05-05T00:00:00Z" }), order("b", 2)]);
  }
  statements.length = 0;
  const { data } = await store.graphql(read, may);
  expect(data.storeAnalytics).toMatchObject({
    showCount: 5,
    kpis: { sales: { total: 60 } },
    timeline: [{ startsAt: "2026-05-05T00:00:00.000Z", orders: 5 }],
    previous: { showCount: 0, kpis: { sales: { total: 0 } } },
  });
  expect(data.storeAnalytics.topShows).toHaveLength(5);
  // Figures, timeline, top shows, and the figures before.
  const isOfStore = (sql: string) => /"startedAt" >=|width_bucket/u.test(sql);
  expect(statements.filter(isOfStore)).toHaveLength(4);
  const left = limitHeaders(
    await sendGraphQL(
      store,
      `{ storeAnalytics(from: "${may.from}", until: "2026-05-20T00:00:00Z") { showCount previous { showCount } } }`,
    ),
  );
  expect(left[1]).toMatch(`"analytics";r=98;`);
});

test("everything of the best shows is read by one statement for each field, whatever the number of shows", async () => {
  const store = await createTestStore(app);
  const amounts = [30, 20, 10];
  for (const amount of amounts) {
    const { id } = await saved(store);
    const at = { occurredAt: "2026-05-05T00:00:30Z" };
    const orders = [order("a", amount, { ...at, productId: "p" }), order("b", 1, { ...at, productId: "q" })];
    await recorded(store, id, [view("c", at), ...orders]);
  }
  const nested = `{
    peakConcurrentViewers
    timeline { startsAt orders sales } hours: timeline(bucketSeconds: 3600) { startsAt sales }
    topProducts(by: SALES) { productId sales product { id } } first: topProducts(by: SALES, first: 1) { productId }
  }`;
  const query = `{ storeAnalytics(from: "${may.from}", until: "${may.until}") { topShows(first: 3) ${nested} } }`;
  statements.length = 0;
  const { data, errors } = await store.graphql(query);
  expect(errors).toBeUndefined();
  expect(data.storeAnalytics.topShows).toEqual(
    amounts.map((sales) => ({
      peakConcurrentViewers: 1,
      timeline: [{ startsAt: "2026-05-05T00:00:00.000Z", orders: 2, sales: sales + 1 }],
      hours: [{ startsAt: "2026-05-05T00:00:00.000Z", sales: sales + 1 }],
      topProducts: [
        { productId: "p", sales, product: null },
        { productId: "q", sales: 1, product: null },
      ],
      first: [{ productId: "p" }],
    })),
  );
  const count = (part: RegExp) => statements.filter((sql) => part.test(sql) && !sql.includes("INSERT")).length;
  // The shows, their peaks, two timelines, two lists of products, and the products themselves.
  const parts = [/WITH top/u, /AS peak/u, /AS "startsAt"/u, /AS place/u, /product_by_id_or_sku/u];
  expect(parts.map(count)).toEqual([1, 1, 2, 2, 1]);
});

test("products of several shows are looked up by several statements if together they exceed a page", async () => {
  const store = await createTestStore(app);
  for (const show of ["a", "b", "c", "d"]) {
    const { id } = await saved(store);
    const orders = Array.from({ length: 26 }, (_, index) =>
      order(`${index}`, 1, { occurredAt: "2026-05-05T00:00:30Z", productId: `${show}-${index}` }),
    );
    await recorded(store, id, orders);
  }
  statements.length = 0;
  const query = `{ storeAnalytics(from: "${may.from}", until: "${may.until}") {
    topShows { topProducts(by: SALES, first: 26) { product { id } } } } }`;
  const { data } = await store.graphql(query);
  expect(data.storeAnalytics.topShows).toHaveLength(4);
  expect(statements.filter((sql) => sql.includes("product_by_id_or_sku")).length).toBeGreaterThan(1);
});

test("scheduled shows have not started, and are not counted", async () => {
  const store = await createTestStore(app);
  await saved(store, { status: "SCHEDULED", startedAt: "2999-05-04T00:00:00.000Z", durationSeconds: null });
  const range = { from: "2999-05-01T00:00:00Z", until: "2999-06-01T00:00:00Z" };
  const { data } = await store.graphql(read, range);
  expect(data.storeAnalytics).toMatchObject({ showCount: 0, topShows: [] });
});

test("a timeline has the latest 1,500 buckets", async () => {
  const store = await createTestStore(app);
  const { id } = await saved(store, { startedAt: "2026-01-01T00:00:00.000Z" });
  const start = Date.parse("2026-01-01T00:00:00Z");
  const hours = Array.from({ length: 1_502 }, (_, n) => new Date(start + n * 3_600_000).toISOString());
  await recorded(
    store,
    id,
    hours.map((occurredAt, n) => order(`${n}`, 1, { occurredAt })),
  );
  const query = `{ storeAnalytics(from: "2026-01-01T00:00:00Z", until: "2026-12-01T00:00:00Z") {
    timeline(bucket: HOUR) { startsAt }
  } }`;
  const { data } = await store.graphql(query);
  expect(data.storeAnalytics.timeline.map(({ startsAt }: { startsAt: string }) => startsAt)).toEqual(hours.slice(2));
});
