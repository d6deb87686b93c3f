import * as fc from "fast-check";
import { expect, test } from "vitest";
import { recordEvents } from "../../src/events/record/events.record.js";
import { previewAttribution } from "../../src/orders/attribution/preview.js";
import { claimOrders } from "../../src/orders/state/order.record.js";
import { rebuildAnalytics } from "../../src/figures/totals/rebuild.js";
import { createTestStore, openTestApp, openTestDatabase } from "../support/app.js";
import { attributed, type KnownShow, type Rule } from "../support/figures/attributionOracle.js";
import { asInputs, insertShows } from "../support/figures.js";
import type { SentEvent } from "../support/oracle.js";
import { isLong } from "../support/run/tier.js";
import { countedBy, figuresOfShows, recordedOrders, type SentOrder, sweptOrders } from "../support/figures/orders.js";

const app = await openTestApp({ analyticsRateLimit: 0 });
const { client: db } = openTestDatabase(); // of which no server folds the totals

const startMs = Date.parse("2026-05-04T18:00:00.000Z");
const at = (minutes: number) => new Date(startMs + minutes * 60_000).toISOString();
const shows = [
  { id: "one", status: "ENDED", startedAt: at(0) },
  { id: "two", status: "ENDED", startedAt: at(30) },
] as const;

const minute = fc.oneof(fc.integer({ min: 0, max: 120 }), fc.integer({ min: 590, max: 800 }));
const viewer = fc.constantFrom("v1", "v2", "v3");
const productId = fc.constantFrom("shirt", "scarf", "hat");
const event = fc.record({
  show: fc.constantFrom(0, 1),
  minute,
  viewer,
  seconds: fc.constantFrom(1, 2.99, 3, 60, 4_000),
  channel: fc.constantFrom("LIVE", "REPLAY"),
  cart: fc.option(productId, { nil: undefined }),
});
const price = fc.integer({ min: 0, max: 10_000 }).map((cents) => cents / 100);
const line = fc.record({ productId, quantity: fc.integer({ min: 1, max: 3 }), amount: price });
const state = fc
  .record({
    id: fc.constantFrom("1", "2", "3", "4", "5"),
    more: price,
    lines: fc.array(line, { maxLength: 3 }),
    refunded: fc.double({ min: 0, max: 1, noNaN: true }),
    viewer: fc.option(viewer, { nil: undefined }),
    sent: fc.option(fc.tuple(fc.constantFrom("one", "two"), fc.constantFrom("LIVE", "REPLAY", "REFERRAL")), {
      nil: undefined,
    }),
  })
  .map(({ id, more, lines, refunded, viewer: viewerId, sent }): Omit<SentOrder, "placedAt"> => {
    const amount = Math.round((more + lines.reduce((sum, { amount: own }) => sum + own, 0)) * 100) / 100;
    const back = Math.floor(amount * refunded * 100) / 100;
    return {
      id,
      amount,
      lines,
      ...(back > 0 && { refunds: [{ id: "r", amount: back }] }),
      ...(viewerId !== undefined && { viewerId }),
      ...(sent !== undefined && { lsId: sent[0], channel: sent[1] }),
    };
  });
const rule: fc.Arbitrary<Rule> = fc.record({
  rule: fc.constantFrom("AS_SENT", "LAST_SHOW", "CART"),
  windowHours: fc.constantFrom(1, 12, 168),
});
const history = fc.record({
  events: fc.array(event, { minLength: 1, maxLength: 15, size: "max" }),
  placed: fc.array(minute, { minLength: 5, maxLength: 5 }),
  batches: fc.array(fc.array(state, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 }),
  claims: fc.array(fc.record({ id: fc.constantFrom("1", "2", "3", "9"), viewer, before: fc.boolean() }), {
    maxLength: 3,
  }),
  /** When each event arrives: before so many batches of orders. */
  arrivals: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 15, maxLength: 15 }),
  sweeps: fc.boolean(),
  first: rule,
});
type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

/** A store in which this happened, events and orders in any order, and what its oracle needs to know. */
async function storeOf({ events, placed, batches, claims, arrivals, sweeps, first }: History) {
  const store = await createTestStore(app);
  await insertShows(db, store.id, shows);
  const data = { attributionRule: first.rule, attributionHours: first.windowHours };
  await db.store.updateMany({ where: { id: store.id }, data });
  const known = shows.map((show, index): KnownShow => {
    const own = events.filter(({ show: of }) => of === index);
    const startedAt = Date.parse(show.startedAt);
    const sent = own.map(({ minute: minutes, viewer: viewerId, seconds, channel, cart }, n): SentEvent => {
      const common = { id: `e${n}`, channel, viewerId, occurredAt: at(minutes) } as const;
      return cart === undefined
        ? { ...common, type: "VIEW", seconds }
        : { ...common, type: "ADD_TO_CART", productId: cart };
    });
    return { id: show.id, startedAt, events: sent };
  });
  let arrived = 0;
  const arrive = async (untilBatch: number) => {
    for (const { id, events: sent } of known) {
      const own = sent.filter(({ id: of }) => {
        const arrival = arrivals[Number(of.slice(1))] ?? 0;
        return arrival >= arrived && arrival < untilBatch;
      });
      if (own.length > 0) await recordEvents(db, store.id, id, asInputs(own));
    }
    arrived = untilBatch;
    if (sweeps) await sweptOrders(db, store.id);
  };
  await arrive(1);
  const claimed = new Map<string, string>();
  const claim = async (areBefore: boolean) => {
    for (const { id, viewer: name } of claims.filter(({ before }) => before === areBefore)) {
      await claimOrders(db, store.id, new Map([[id, name]]));
      if (!claimed.has(id)) claimed.set(id, name);
    }
  };
  await claim(true);
  const states = new Map<string, SentOrder[]>();
  for (const batch of batches) {
    const orders = batch.map((order): SentOrder => ({ ...order, placedAt: at(placed[Number(order.id) - 1] ?? 0) }));
    await recordedOrders(store, [...orders, ...orders.slice(-1)]);
    for (const order of orders) states.set(order.id, [...(states.get(order.id) ?? []), order]);
    await arrive(arrived + 1);
  }
  await claim(false);
  await arrive(4);
  await sweptOrders(db, store.id);
  return { store, known, states, claimed, first };
}

/** Asserts that the figures of a store are what the rule says. */
async function expectBy(by: Rule, { store, known, states, claimed }: Awaited<ReturnType<typeof storeOf>>) {
  const expected = attributed(known, states, claimed, by);
  const shown = new Map([...expected].filter(([, { orders, sales }]) => orders > 0 || sales > 0));
  const cents = new Map([...shown].map(([where, { orders, sales }]) => [where, { orders, sales: sales / 100 }]));
  const figures = await figuresOfShows(
    store,
    shows.map(({ id }) => id),
  );
  expect(figures.counts).toEqual([...cents].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const grossOf = (sent: readonly SentOrder[]) => Math.max(...sent.map(({ amount }) => amount));
  const total = [...states.values()].reduce((sum, sent) => sum + grossOf(sent), 0);
  expect(figures.counts.reduce((sum, [, { sales }]) => sum + sales, 0)).toBeCloseTo(total, 6);
  const given = [...states.values()].reduce((sum, sent) => {
    const newest = sent.at(-1);
    const back = (newest?.refunds ?? []).reduce((all, { amount }) => all + amount, 0);
    return sum + grossOf(sent) - (newest?.amount ?? 0) + back;
  }, 0);
  expect(figures.refunds).toBe(Math.round(given * 100));
  expect((await previewAttribution(db, store.id, by)).changes).toEqual([]);
}

const stores: Awaited<ReturnType<typeof storeOf>>[] = [];
for (const one of fc.sample(history, isLong ? 80 : 8)) stores.push(await storeOf(one));

test("orders count as the written rules say, and a dry run of the same rule changes nothing", async () => {
  for (const one of stores) await expectBy(one.first, one);
});

test("under every other rule, shows and what is unattributed are the shop's total, too, also after a rebuild", async () => {
  const property = fc.asyncProperty(fc.constantFrom(...stores), rule, fc.boolean(), async (one, by, isRebuilt) => {
    await countedBy(db, one.store.id, by);
    if (isRebuilt) await rebuildAnalytics(db, one.store.id);
    await expectBy(by, one);
  });
  await fc.assert(property, { numRuns: isLong ? 250 : 10 }); // each counts a store anew
});
