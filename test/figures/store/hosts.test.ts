import { expect, test } from "vitest";
import { pruneBefore } from "../../../src/figures/totals/pruneBefore.js";
import { setStore } from "../../../src/stores/store.js";
import { createTestStore, openTestApp, testDatabase, type TestStore } from "../../support/app.js";
import { fromNow, stopClock } from "../../support/clock.js";
import { order, view } from "../../support/events.js";
import { addShows, recorded, saved } from "../../support/shows.js";

const statements: string[] = [];
const app = await openTestApp(
  { analyticsRateLimit: 0 },
  testDatabase((sql) => statements.push(sql)),
);

const may = { from: "2026-05-01T00:00:00Z", until: "2026-06-01T00:00:00Z" };
const minuteMs = 60_000;

async function readHosts(store: TestStore, fields: string, range = may) {
  const query = `query ($from: DateTime!, $until: DateTime!) {
    storeAnalytics(from: $from, until: $until) { hosts { ${fields} } }
  }`;
  const { data, errors } = await store.graphql(query, range);
  expect(errors).toBeUndefined();
  return data.storeAnalytics.hosts;
}

async function savedHost(store: TestStore, lsId: string, startedAt: string, endedAt: string | null = null) {
  const save =
    "mutation ($lsId: String!, $moments: [MomentInput!]!) { saveMoments(lsId: $lsId, moments: $moments) { accepted } }";
  const host = { name: "Guest", email: "guest@shop.example" };
  const moments = [{ id: startedAt, kind: "HOST", startedAt, endedAt, host }];
  expect(await store.graphql(save, { lsId, moments })).toEqual({ data: { saveMoments: { accepted: 1 } } });
}

test("an order counts once for its show, although a moment begins or ends within its minute", async () => {
  const store = await createTestStore(app);
  const { id } = await saved(store);
  await savedHost(store, id, "2026-05-04T18:40:30Z", "2026-05-04T18:50:30Z");
  await recorded(store, id, [
    order("before", 10, { occurredAt: "2026-05-04T18:40:10Z" }),
    order("meanwhile", 20, { occurredAt: "2026-05-04T18:40:40Z" }),
    order("after", 5, { occurredAt: "2026-05-04T18:50:40Z" }),
  ]);
  for (const fields of ["sales", "sales netSales"]) {
    expect(await readHosts(store, `host { name } ${fields}`)).toMatchObject([
      { host: { name: "Guest" }, sales: 20 },
      { host: { name: "Robin Host" }, sales: 15 },
    ]);
  }
});

test("a moment that starts in the second in which its show ends has no time, although another one follows", async () => {
  const store = await createTestStore(app);
  const { id } = await saved(store, { startedAt: "2026-05-04T18:30:00.500Z", durationSeconds: 60 });
  await savedHost(store, id, "2026-05-04T18:31:00Z");
  await savedHost(store, id, "2026-05-04T18:32:00Z");
  expect(await readHosts(store, "host { name }")).toEqual([{ host: { name: "Robin Host" } }]);
});

test("the moment of a running show lasts until now, and its own host has the time before", async () => {
  const clock = stopClock();
  clock.pass(1_000 - (fromNow(0).getTime() % 1_000));
  const store = await createTestStore(app);
  const now = fromNow(0).getTime();
  const at = (minutes: number) => new Date(now + minutes * minuteMs).toISOString();
  const { id } = await saved(store, { status: "LIVE", startedAt: at(-60), durationSeconds: null });
  await savedHost(store, id, at(-30));
  await recorded(store, id, [
    order("a", 10, { occurredAt: at(-45) }),
    order("b", 20, { occurredAt: at(-29) }),
    view("c", { occurredAt: at(-20) }),
  ]);
  const fields = "host { name } hours salesPerHour viewersPerHour";
  const read = () => readHosts(store, fields, { from: at(-90), until: at(0) });
  expect(await read()).toEqual([
    { host: { name: "Guest" }, hours: 0.5, salesPerHour: 40, viewersPerHour: 2 },
    { host: { name: "Robin Host" }, hours: 0.5, salesPerHour: 20, viewersPerHour: 0 },
  ]);
  clock.pass(30 * minuteMs);
  expect(await read()).toEqual([
    { host: { name: "Guest" }, hours: 1, salesPerHour: 20, viewersPerHour: 1 },
    { host: { name: "Robin Host" }, hours: 0.5, salesPerHour: 20, viewersPerHour: 0 },
  ]);
});

test("net sales and viewers are unknown where events of a moment were removed, for the show's own host as well, and come last", async () => {
  const store = await createTestStore(app);
  const { id } = await saved(store);
  await savedHost(store, id, "2026-05-04T18:40:00Z", "2026-05-04T18:50:00Z");
  await recorded(store, id, [
    order("a", 10, { occurredAt: "2026-05-04T18:41:00Z" }),
    order("b", 20, { occurredAt: "2026-05-04T19:00:00Z" }),
  ]);
  await pruneBefore(app.db, store.id, id, { before: new Date("2026-05-04T18:45:00Z") });
  const other = await saved(store, { host: { name: "Zoe", email: "zoe@shop.example" } });
  await recorded(store, other.id, [order("c", 5, { type: "REFUND", occurredAt: "2026-05-04T19:00:00Z" })]);
  const query = `query ($from: DateTime!, $until: DateTime!) {
    storeAnalytics(from: $from, until: $until) {
      hosts(by: NET_SALES_PER_HOUR) { host { name } sales orders netSales netSalesPerHour viewers }
    }
  }`;
  const unknown = { netSales: null, netSalesPerHour: null, viewers: null };
  expect((await store.graphql(query, may)).data.storeAnalytics.hosts).toEqual([
    { host: { name: "Zoe" }, sales: 0, orders: 0, netSales: -5, netSalesPerHour: -5, viewers: 0 },
    { host: { name: "Guest" }, sales: 10, orders: 1, ...unknown },
    { host: { name: "Robin Host" }, sales: 20, orders: 1, ...unknown },
  ]);
});

test("only a show with HOST moments has statements of its own, and events are only read for what minutes lack", async () => {
  const store = await createTestStore(app);
  for (let n = 0; n < 3; n += 1) {
    const { id } = await saved(store);
    if (n === 0) await savedHost(store, id, "2026-05-04T18:40:00Z");
  }
  const sent = async (fields: string) => {
    statements.length = 0;
    await readHosts(store, fields);
    const count = (table: string) => statements.filter((sql) => sql.includes(`FROM "${table}" AS`)).length;
    return { totals: count("LiveStreamTotal"), events: count("ShowEvent") };
  };
  expect(await sent("host { email } hours sales ordersPerHour")).toEqual({ totals: 2, events: 0 });
  expect(await sent("netSales")).toEqual({ totals: 2, events: 1 });
});

test("all shows of the range count, also those that started at one time and do not fit into one statement", async () => {
  const store = await createTestStore(app);
  const count = 1_001;
  await addShows(app, store, { count, name: "'Show'", newest: new Date("2026-05-05T00:00:00Z"), apartSeconds: 0 });
  await app.db.liveStream.updateMany({
    where: { storeId: store.id },
    data: { hostName: "Robin", hostEmail: "robin@shop.example" },
  });
  expect(await readHosts(store, "host { name } hours")).toEqual([
    { host: { name: "Robin" }, hours: Math.round((count / 60) * 100) / 100 },
  ]);
});

test("REST has them at a path of their own, with amounts in the decimals of the store's currency", async () => {
  const store = await createTestStore(app);
  await setStore(app.db, store.id, { currency: "JPY" });
  const { id } = await saved(store);
  await savedHost(store, id, "2026-05-04T18:40:00Z", "2026-05-04T19:01:00Z");
  await recorded(store, id, [order("a", 1_000, { occurredAt: "2026-05-04T18:45:00Z" })]);
  const path = `/external/analytics/v1/hosts?from=${may.from}&until=${may.until}`;
  const own = { sales: 0, netSales: 0, orders: 0, viewers: 0 };
  const rates = { salesPerHour: 0, netSalesPerHour: 0, ordersPerHour: 0, viewersPerHour: 0 };
  expect((await store.get(`${path}&by=HOURS&first=1`)).body).toEqual({
    hosts: [{ host: { name: "Robin Host", email: "robin@shop.example" }, hours: 0.65, ...own, ...rates }],
  });
  const { body } = await store.get(path);
  expect(body.hosts[0]).toMatchObject({ sales: 1_000, salesPerHour: 2_857, ordersPerHour: 2.86 });
  expect(await store.get(`${path}&first=101`)).toMatchObject({
    status: 400,
    body: { detail: "first must be from 0 to 100, not 101." },
  });
});
