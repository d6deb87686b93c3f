// @engine both
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { pruneBefore } from "../../../src/figures/totals/pruneBefore.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { fromNow, stopClock } from "../../support/clock.js";
import { asInputs } from "../../support/figures.js";
import { type HostedShow, hostFigures, hostsOf, rankedHosts } from "../../support/hostOracle.js";
import { isLong } from "../../support/run/tier.js";
import { accepted, type SentEvent } from "../../support/oracle.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

const figures =
  "host { name email } hours sales netSales orders viewers salesPerHour netSalesPerHour ordersPerHour viewersPerHour";
const read = `query ($from: DateTime!, $until: DateTime!, $by: HostOrder!, $first: Int) {
  storeAnalytics(from: $from, until: $until) {
    hosts(by: $by, first: $first) { ${figures} }
    all: hosts(first: 100) { sales netSales orders viewers }
    kpis { sales { total } netSales { total } orders { total } viewers { unique } }
  }
}`;

const host = fc.constantFrom(
  { name: "Ann", email: "ann@shop.example" },
  { name: "Anna", email: "ANN@Shop.example" },
  { name: "Bo", email: "bo@shop.example" },
  { name: "Cleo", email: "cleo@shop.example" },
);
/** The range in milliseconds before now. */
const [from, until] = [-600_000, -60_000];
/** When a show starts; some at the ends of the range, and some outside. */
const starts = fc.oneof(fc.constantFrom(from - 1, from, until - 1, until), fc.integer({ min: -700_000, max: 0 }));
const moment = fc.record({
  at: fc.integer({ min: -100, max: 700 }),
  length: fc.option(fc.integer({ min: 0, max: 300 })),
  host,
});
const event = fc.record({
  kind: fc.constantFrom(
    { type: "VIEW", channel: "LIVE" },
    { type: "VIEW", channel: "REPLAY" },
    { type: "ADD_TO_CART", channel: "LIVE" },
    { type: "ORDER", channel: "LIVE" },
    { type: "ORDER", channel: "REFERRAL" },
    { type: "REFUND", channel: "LIVE" },
  ) satisfies fc.Arbitrary<Pick<SentEvent, "type" | "channel">>,
  viewerId: fc.constantFrom("a", "b", "c", "d", "e"),
  seconds: fc.integer({ min: 0, max: 900 }).map((tenths) => tenths / 10),
  cents: fc.integer({ min: 0, max: 10_000 }),
  ms: fc.oneof(
    fc.integer({ min: -200_000, max: 900_000 }),
    fc.integer({ min: -10, max: 700 }).map((second) => second * 1_000),
  ),
});
const show = fc.record({
  status: fc.constantFrom("ENDED", "ENDED", "LIVE", "SCHEDULED"),
  start: starts,
  seconds: fc.integer({ min: 0, max: 600 }),
  host: fc.option(host),
  moments: fc.array(moment, { maxLength: 5 }),
  events: fc.array(event, { maxLength: 25 }),
  cutoff: fc.option(fc.integer({ min: -100_000, max: 700_000 }), { freq: 3 }),
});
const shows = fc.array(show, { minLength: 1, maxLength: 3 });
type Show = typeof show extends fc.Arbitrary<infer Value> ? Value : never;

/** Events must not be later than five minutes from now. */
function sentEvents({ start, events }: Show, now: number): SentEvent[] {
  return events.map(({ kind, viewerId, seconds, cents, ms }, index) => ({
    id: `e${index}`,
    ...kind,
    viewerId,
    occurredAt: new Date(now + Math.min(start + ms, 300_000)).toISOString(),
    ...(kind.type === "VIEW" && { seconds }),
    ...((kind.type === "ORDER" || kind.type === "REFUND") && { amount: cents / 100 }),
  }));
}

/** Saves a show with its moments and events, and gives it back for the oracle. */
async function saveShow(store: TestStore, number: number, now: number, given: Show): Promise<HostedShow> {
  const [id, startedAt] = [`show ${number}`, now + given.start];
  const isRunning = given.status === "LIVE";
  const data = {
    storeId: store.id,
    id,
    number,
    name: "Show",
    status: given.status,
    startedAt: new Date(startedAt),
    durationSeconds: isRunning ? null : given.seconds,
    hostName: given.host?.name ?? null,
    hostEmail: given.host?.email ?? null,
  };
  await app.db.liveStream.create({ data });
  const events = given.status === "SCHEDULED" ? [] : sentEvents(given, now);
  if (events.length > 0) await recordEvents(app.db, store.id, id, asInputs(events));
  const second = Math.floor(startedAt / 1_000);
  const moments = given.moments.map(({ at, length, host: presenter }, index) => ({
    id: `m${index}`,
    startedAt: (second + at) * 1_000,
    endedAt: length === null ? null : (second + at + length) * 1_000,
    host: presenter,
  }));
  const rows = moments.map(({ host: { name: hostName, email: hostEmail }, ...times }) => ({
    storeId: store.id,
    show: number,
    id: times.id,
    kind: "HOST",
    hostName,
    hostEmail,
    startedAt: new Date(times.startedAt),
    endedAt: times.endedAt === null ? null : new Date(times.endedAt),
  }));
  // A moment of another kind ends no HOST.
  const pin = { storeId: store.id, show: number, id: "pin", kind: "PIN", startedAt: new Date((second + 60) * 1_000) };
  await app.db.showMoment.createMany({ data: [...rows, pin] });
  const isPruned = given.cutoff !== null && given.status === "ENDED";
  const cutoff = isPruned ? startedAt + (given.cutoff ?? 0) : null;
  if (cutoff !== null) await pruneBefore(app.db, store.id, id, { before: new Date(cutoff) });
  return { startedAt, seconds: data.durationSeconds, host: given.host, moments, events: accepted(events), cutoff };
}

const cents = (amount: number) => Math.round(amount * 100);

test("hosts equal the oracle, and with what is nobody's they add up to their store", async () => {
  stopClock();
  const by = fc.constantFrom("SALES_PER_HOUR", "NET_SALES_PER_HOUR", "ORDERS_PER_HOUR", "VIEWERS_PER_HOUR", "HOURS");
  const first = fc.integer({ min: 0, max: 4 });
  const property = fc.asyncProperty(fc.tuple(shows, shows), by, first, async (histories, order, count) => {
    const now = fromNow(0).getTime();
    const range = { from: new Date(now + from).toISOString(), until: new Date(now + until).toISOString() };
    const stores = [];
    for (const history of histories) {
      const store = await createTestStore(app);
      const saved = await Promise.all(history.map((one, index) => saveShow(store, index + 1, now, one)));
      const isInRange = ({ start, status }: Show) => start >= from && start < until && status !== "SCHEDULED";
      stores.push({ store, saved: saved.filter((_, index) => history[index] && isInRange(history[index])) });
    }
    for (const { store, saved } of stores) {
      const { data, errors } = await store.graphql(read, { ...range, by: order, first: count });
      expect(errors).toBeUndefined();
      const { hosts, all, kpis } = data.storeAnalytics;
      const expected = hostsOf(saved, now);
      const ranked = rankedHosts(expected, order).slice(0, count);
      expect(hosts).toEqual(ranked.map((one) => ({ host: expect.any(Object), ...hostFigures(one) })));
      for (const [index, { named }] of ranked.entries()) expect(named).toContainEqual(hosts[index].host);
      const nobody = expected.get("") ?? { sales: 0, netSales: 0, orders: 0, viewers: 0 };
      const sum = (of: (one: any) => number) => all.reduce((total: number, one: any) => total + of(one), 0);
      expect(sum(({ sales }) => cents(sales)) + nobody.sales).toBe(cents(kpis.sales.total));
      expect(sum(({ orders }) => orders) + nobody.orders).toBe(kpis.orders.total);
      if (nobody.netSales === null || nobody.viewers === null || all.some((one: any) => one.netSales === null))
        continue;
      expect(sum(({ netSales }) => cents(netSales)) + nobody.netSales).toBe(cents(kpis.netSales.total));
      expect(sum(({ viewers }) => viewers) + nobody.viewers).toBe(kpis.viewers.unique);
    }
  });
  await fc.assert(property, { numRuns: isLong ? 150 : 15 });
});
