import { beforeAll, describe, expect, test } from "vitest";
import { pruneBefore } from "../../../src/figures/totals/pruneBefore.js";
import { createTestStore, openTestApp, startApp, testDatabase, type TestStore } from "../../support/app.js";
import { fromNow } from "../../support/clock.js";
import { order, storeWithShow, view } from "../../support/events.js";
import { momentsPath, pin, savedMoments, second } from "../../support/figures/moments.js";
import { countedBy, netOf, recordedOrders, sentOrder } from "../../support/figures/orders.js";
import { unknownIfRemoved } from "../../support/intervalOracle.js";
import { analyticsPath, recorded, saved } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

const all = `seconds sales netSales orders quantity addToCart viewersAtStart peakViewers averageViewers newViewers isExact
  ofProduct { sales orders quantity addToCart }`;
const nothing = {
  seconds: 0,
  sales: 0,
  netSales: 0,
  orders: 0,
  quantity: 0,
  addToCart: 0,
  viewersAtStart: 0,
  peakViewers: 0,
  averageViewers: 0,
  newViewers: 0,
  isExact: true,
  ofProduct: null,
};

async function between(store: TestStore, lsId: string, from: string, until: string, fields = all) {
  const query = `query ($lsId: String!, $from: DateTime!, $until: DateTime!) {
    liveStreamAnalytics(lsId: $lsId) { between(from: $from, until: $until) { ${fields} } } }`;
  const { data, errors } = await store.graphql(query, { lsId, from, until });
  return errors === undefined ? data.liveStreamAnalytics.between : errors[0].extensions.errors;
}

/** A store with a show in whose seconds 10 to 20 a viewer puts a shirt into the cart and orders it, and a mug. */
async function storeWithSales() {
  const { store, lsId } = await storeWithShow(app);
  const [shirt, mug] = [
    { productId: "shirt", quantity: 2, amount: 30 },
    { productId: "mug", quantity: 1, amount: 5 },
  ];
  await recorded(store, lsId, [
    view("view", { viewerId: "ann", seconds: 10, occurredAt: second(20) }),
    { id: "cart", type: "ADD_TO_CART", channel: "LIVE", viewerId: "ann", productId: "shirt", occurredAt: second(12) },
    order("order", 35.5, { viewerId: "ann", lines: [shirt, mug], occurredAt: second(19) }),
    { id: "refund", type: "REFUND", channel: "LIVE", amount: 5.25, lines: [], occurredAt: second(20) },
  ]);
  return { store, lsId };
}

test("orders of a product count from the second in which their viewer put it into the cart, for so many minutes", async () => {
  const { store, lsId } = await storeWithShow(app);
  const ofShirt = { viewerId: "ann", productId: "shirt" };
  await recorded(store, lsId, [
    { id: "cart", type: "ADD_TO_CART", channel: "LIVE", ...ofShirt, occurredAt: second(60) },
    order("before the cart", 10, { ...ofShirt, occurredAt: second(59) }),
    order("with the cart", 10, { ...ofShirt, occurredAt: second(60) }),
    order("after the pin", 10, { ...ofShirt, occurredAt: second(180) }),
    order("a second later", 10, { ...ofShirt, occurredAt: second(181) }),
    order("of another viewer", 10, { ...ofShirt, viewerId: "bob", occurredAt: second(61) }),
    order("of another product", 10, { ...ofShirt, productId: "mug", occurredAt: second(61) }),
  ]);
  await savedMoments(store, lsId, [pin("shirt", 50, { endedAt: second(100) })]);
  const fields = [0, 2, 3].map((minutes) => `in${minutes}: ordersWithin(minutes: ${minutes})`).join(" ");
  const { data } = await store.graphql(
    `{ liveStreamAnalytics(lsId: "${lsId}") { moments { figures { ofProduct { orders ${fields} } } } } }`,
  );
  const [moment] = data.liveStreamAnalytics.moments;
  expect(moment.figures.ofProduct).toEqual({ orders: 3, in0: 1, in2: 2, in3: 3 });
});

describe("an interval", () => {
  let sold: Awaited<ReturnType<typeof storeWithSales>>;
  beforeAll(async () => {
    sold = await storeWithSales();
  });

  test("has the second in which it begins and not that in which it ends, whatever the fractions", async () => {
    const { store, lsId } = sold;
    const watched = { viewersAtStart: 1, peakViewers: 1, averageViewers: 1, newViewers: 1 };
    const sales = { sales: 35.5, netSales: 35.5, orders: 1, quantity: 3, addToCart: 1 };
    const expected = { ...nothing, ...watched, ...sales, seconds: 10 };
    expect(await between(store, lsId, second(10), second(20))).toEqual(expected);
    const fractions = (time: string) => time.replace(".000Z", ".999999Z");
    expect(await between(store, lsId, fractions(second(10)), fractions(second(20)))).toEqual(expected);
    expect(await between(store, lsId, second(20), second(21))).toEqual({ ...nothing, seconds: 1, netSales: -5.25 });
    expect(await between(store, lsId, second(19), second(20))).toMatchObject({
      orders: 1,
      addToCart: 0,
      newViewers: 0,
    });
  });

  test("is the same over REST", async () => {
    const { store, lsId } = sold;
    const { status, body } = await store.get(`${analyticsPath(lsId)}/between?from=${second(10)}&until=${second(21)}`);
    const { carts: _, ...expected } = await between(store, lsId, second(10), second(21));
    expect([status, body]).toEqual([200, { between: expected }]);
  });

  test.each([
    ["empty", second(10), second(10)],
    ["within one second", second(10), second(10).replace(".000Z", ".5Z")],
    ["before the show", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00.9Z"],
  ])("that is %s has nothing", async (_, from, until) => {
    expect(await between(sold.store, sold.lsId, from, until)).toEqual(nothing);
  });

  test.each([
    ["in the future", "2100-01-01T00:00:00Z", "2100-01-01T00:01:00Z", 60],
    ["of the first years", "0001-01-01T00:00:00Z", "0006-01-01T00:00:00Z", 157_766_400],
    ["of the last years", "9995-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", 157_766_399],
  ])("%s has nothing either", async (_, from, until, seconds) => {
    expect(await between(sold.store, sold.lsId, from, until)).toEqual({ ...nothing, seconds });
    expect(await between(sold.store, sold.lsId, from, until, "sales orders")).toEqual({ sales: 0, orders: 0 });
  });

  test("is the same beside one of other centuries", async () => {
    const { store, lsId } = sold;
    const expected = await between(store, lsId, second(10), second(21));
    for (const [from, until] of [
      ["0001-01-01T00:00:00Z", "0001-01-01T00:00:01Z"],
      ["9999-01-01T00:00:00Z", "9999-01-01T00:00:01Z"],
    ]) {
      const query = `{ liveStreamAnalytics(lsId: "${lsId}") { far: between(from: "${from}", until: "${until}") { ${all} }
        between(from: "${second(10)}", until: "${second(21)}") { ${all} } } }`;
      const { data, errors } = await store.graphql(query);
      expect(errors).toBeUndefined();
      expect(data.liveStreamAnalytics).toEqual({ far: { ...nothing, seconds: 1 }, between: expected });
    }
  });

  test("of five years around the show has all of it", async () => {
    const expected = { sales: 35.5, netSales: 30.25, orders: 1, peakViewers: 1, averageViewers: 0, newViewers: 1 };
    const fields = Object.keys(expected).join(" ");
    const [from, until] = ["2024-01-01T00:00:00Z", "2029-01-01T00:00:00Z"];
    expect(await between(sold.store, sold.lsId, from, until, fields)).toEqual(expected);
  });

  test.each([
    ["until before from", second(10), second(9), `until must be at or after from, not ${second(9)}.`],
    [
      "more than 5 years",
      "2026-01-01T00:00:00Z",
      "2031-01-01T00:00:00.001Z",
      "until must be at most 5 years after from, not 2031-01-01T00:00:00.001Z.",
    ],
  ])("%s is refused", async (_, from, until, message) => {
    const { store, lsId } = sold;
    const problems = [{ code: "VALIDATION_FAILED", message, path: ["until"] }];
    expect(await between(store, lsId, from, until)).toEqual(problems);
    const { status, body } = await store.get(`${analyticsPath(lsId)}/between?from=${from}&until=${until}`);
    expect([status, body.errors]).toEqual([400, problems]);
  });
});

test("the mean of viewers is rounded from what it is, halves up", async () => {
  const { store, lsId } = await storeWithShow(app);
  await recorded(store, lsId, [
    view("a", { viewerId: "ann", seconds: 200, occurredAt: second(200) }),
    view("b", { viewerId: "bob", seconds: 1, occurredAt: second(1) }),
  ]);
  expect(await between(store, lsId, second(0), second(200), "averageViewers")).toEqual({ averageViewers: 1.01 });
});

describe("bounds of arguments:", () => {
  const moments = async (fields: string) => {
    const { store, lsId } = await storeWithSales();
    await savedMoments(store, lsId, [pin("a", 10, { endedAt: second(15) })]);
    const { data, errors } = await store.graphql(`{ liveStreamAnalytics(lsId: "${lsId}") { ${fields} } }`);
    return errors?.[0].extensions.errors ?? data.liveStreamAnalytics.moments;
  };

  test("orders of a pin's product are counted 0 to 1,440 minutes after it was put into the cart", async () => {
    const within = (minutes: number) =>
      moments(`moments { figures { ofProduct { orders carts ordersWithin(minutes: ${minutes}) } } }`);
    for (const [minutes, ordersWithin] of [
      [0, 0],
      [1, 1],
      [1_440, 1],
    ] as const) {
      expect(await within(minutes)).toEqual([{ figures: { ofProduct: { orders: 0, carts: 1, ordersWithin } } }]);
    }
    for (const minutes of [-1, 1_441]) {
      const message = `minutes must be from 0 to 1440, not ${minutes}.`;
      expect(await within(minutes)).toEqual([{ code: "VALIDATION_FAILED", message, path: ["minutes"] }]);
    }
  });

  test("moments come as many as 0 to 2,000", async () => {
    const first = (count: number | null) => moments(`moments(first: ${count}) { id }`);
    expect([await first(0), await first(null), await first(2_000)]).toEqual([[], [{ id: "a" }], [{ id: "a" }]]);
    for (const count of [-1, 2_001]) {
      const message = `first must be from 0 to 2000, not ${count}.`;
      expect(await first(count)).toEqual([{ code: "VALIDATION_FAILED", message, path: ["first"] }]);
    }
  });
});

test("orders that were reported, refunded and attributed by other rules are in intervals as they are in the show", async () => {
  const { store, lsId } = await storeWithShow(app);
  const { id: other } = await saved(store, { startedAt: second(7_200) });
  const lines = [{ productId: "shirt", quantity: 2, amount: 60 }];
  await recorded(store, lsId, [
    view("v1", { viewerId: "ann", occurredAt: second(60) }),
    { id: "c1", type: "ADD_TO_CART", channel: "LIVE", viewerId: "ann", productId: "shirt", occurredAt: second(90) },
  ]);
  await recorded(store, other, [view("v2", { viewerId: "ann", occurredAt: second(7_260) })]);
  const refunds = [{ id: "r", at: second(8_000), amount: 10 }];
  await recordedOrders(store, [
    sentOrder("1", 60, { viewerId: "ann", placedAt: second(7_300), lsId, lines, refunds }),
    sentOrder("2", 12.35, { viewerId: "ann", placedAt: second(7_360), lsId: other }),
  ]);
  await recordedOrders(store, [sentOrder("2", 10.35, { viewerId: "ann", placedAt: second(7_360), lsId: other })]);
  const counted = new Set<string>();
  for (const rule of ["AS_SENT", "CART", "LAST_SHOW", "AS_SENT"] as const) {
    await countedBy(app.db, store.id, { rule, windowHours: 168 });
    for (const id of [lsId, other]) {
      const last = fromNow(60_000).toISOString(); // what an order has less is refunded now
      const ends = [second(-86_400), second(61), second(7_330), second(8_000), last];
      const read = ends.slice(1).map((until, index) => between(store, id, ends[index] ?? until, until));
      const intervals = await Promise.all(read);
      const sum = (name: string) => Math.round(intervals.reduce((total, each) => total + each[name] * 100, 0)) / 100;
      const { sales, net, orders } = await netOf(store, id);
      expect([rule, sum("sales"), sum("netSales"), sum("orders")]).toEqual([rule, sales, net, orders]);
      const ofMinutes = await between(store, id, second(-86_400), last, "sales orders");
      expect(ofMinutes).toEqual({ sales, orders });
      counted.add(`${id === lsId} ${orders}`);
    }
  }
  expect(counted.size).toBeGreaterThan(2); // the rules differ
});

test("of a pruned show, moments and intervals have what minutes have, over REST too", async () => {
  const { store, lsId } = await storeWithSales();
  await savedMoments(store, lsId, [pin("a", 10, { endedAt: second(90) })]);
  await pruneBefore(app.db, store.id, lsId, { before: new Date(second(3_600)) });
  const unknown = { ...unknownIfRemoved, ofProduct: null };
  const minute = { seconds: 60, sales: 35.5, orders: 1, addToCart: 1, ...unknown, isExact: false };
  const { body } = await store.get(`${analyticsPath(lsId)}/between?from=${second(10)}&until=${second(90)}`);
  expect(body).toEqual({ between: minute });
  const moments = await store.get(momentsPath(lsId));
  expect(moments.body.moments).toMatchObject([
    { id: "a", startedAt: second(10), endedAt: second(90), figures: minute },
  ]);
});

test("moments of several shows are read by one statement, and their figures by one for each show", async () => {
  const database = testDatabase();
  const watched = await startApp({ analyticsRateLimit: 0 }, database);
  const store = await createTestStore(watched);
  for (const lsId of ["a", "b", "c"]) {
    await saved(store, { id: lsId });
    await recorded(store, lsId, [order(`order of ${lsId}`, 5, { occurredAt: second(15) })]);
    await savedMoments(store, lsId, [pin("1", 10, { endedAt: second(20) }), pin("2", 20), pin("3", 60)]);
  }
  let [moments, sums] = [0, 0];
  database.probe.aroundQuery = (sql, send) => {
    if (/FROM .*"ShowMoment"/u.test(sql)) moments += 1;
    if (sql.includes("width_bucket")) sums += 1;
    return send();
  };
  const { data } = await store.graphql(`{ storeAnalytics(from: "2026-01-01T00:00:00Z", until: "2027-01-01T00:00:00Z") {
    topShows { moments { id figures { netSales } } } } }`);
  const figures = [5, 0, 0].map((netSales, index) => ({ id: String(index + 1), figures: { netSales } }));
  expect(data.storeAnalytics.topShows).toEqual([1, 2, 3].map(() => ({ moments: figures })));
  expect([moments, sums]).toEqual([1, 3]);
  await watched.close();
});
