import * as fc from "fast-check";
import { expect, test } from "vitest";
import { counted, type KnownOrder, merge, type OrderNews } from "../../src/orders/state/order.state.js";

// What is known of an order does not depend on the order in which news of it comes, nor on how often.

const placedAt = new Date("2026-05-04T19:00:00.000Z");
const minute = (minutes: number) => new Date(placedAt.getTime() + minutes * 60_000);
const money = fc.integer({ min: 0, max: 20_000 }).map((cents) => cents / 100);
const lines = fc.array(fc.record({ productId: fc.constantFrom("a", "b"), quantity: fc.constant(1), amount: money }), {
  maxLength: 2,
});
const refundIds = ["r1", "r2", "r3"] as const;
/** The same refund says the same, whoever reports it. */
const refunds = fc.tuple(
  ...refundIds.map((id, index) =>
    fc.record({ id: fc.constant(id), at: fc.constant(minute(10 * index).getTime()), amount: money, lines }),
  ),
);

const state = fc.record({
  amount: fc.constantFrom(50, 100, 120.5),
  left: fc.double({ min: 0, max: 1, noNaN: true }),
  isPaid: fc.boolean(),
  isCancelled: fc.boolean(),
  lines,
  listed: fc.subarray([...refundIds]),
  /** Some are of the same second. */
  changedAt: fc.constantFrom(1, 11, 21).map(minute),
  placedAt: fc.constantFrom(0, 5).map(minute),
  viewerId: fc.constantFrom(null, "v1", "v2", "v3"),
  sent: fc.constantFrom(null, ["one", "LIVE"] as const, ["one", "REPLAY"] as const, ["two", "LIVE"] as const),
});
const file = fc.record({ isGone: fc.boolean(), refunded: money, viewerId: fc.constantFrom(null, "v1", "v4") });
const history = fc.record({
  states: fc.array(state, { maxLength: 4 }),
  refunds,
  apart: fc.subarray([...refundIds]),
  file: fc.option(file, { nil: undefined }),
  deletedAt: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
  restoredAt: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
  amountOfFile: money,
});

function newsOf(one: typeof history extends fc.Arbitrary<infer Value> ? Value : never): OrderNews[] {
  const common = { id: "1", placedAt, viewerId: null, lsId: null, channel: null } as const;
  const states = one.states.map(({ amount, left, listed, sent, ...fields }, index) => ({
    ...common,
    ...fields,
    kind: "state" as const,
    lsId: sent?.[0] ?? null,
    channel: sent?.[1] ?? null,
    amount,
    remaining: Math.floor(amount * left * 100) / 100,
    refunds: one.refunds.filter(({ id }) => listed.includes(id)),
    ...(index === one.states.length - 1 && one.restoredAt !== undefined && { restoredAt: minute(one.restoredAt) }),
  }));
  const apart = one.refunds.filter(({ id }) => one.apart.includes(id));
  const { file: ofFile } = one;
  return [
    ...states,
    ...apart.map((refund) => ({ kind: "refund" as const, id: "1", refund })),
    ...(one.deletedAt === undefined ? [] : [{ kind: "deletion" as const, id: "1", at: minute(one.deletedAt) }]),
    ...(ofFile === undefined
      ? []
      : [{ ...common, ...ofFile, kind: "file" as const, amount: one.amountOfFile, lines: [] }]),
  ];
}

const mergeAll = (news: readonly OrderNews[]) => news.reduce<KnownOrder | undefined>(merge, undefined);

/** What counts of an order, and by what it is attributed: nothing until a state or a file has told of it. */
function countsOf(order: KnownOrder | undefined) {
  if (order === undefined || order.money.newest === null) return undefined;
  const { placedAt: at, viewerId, lsId, channel } = order;
  return { counted: counted(order), at, viewerId, lsId, channel };
}

test("the viewer and the show are those of the latest state that names them", () => {
  const ofMinute = (minutes: number, viewerId: string | null): OrderNews => {
    const fields = { isPaid: true, isCancelled: false, amount: 10, remaining: 10, lines: [], refunds: [] };
    const sent =
      viewerId === null ? { lsId: null, channel: null } : { lsId: `show of ${viewerId}`, channel: "LIVE" as const };
    return { kind: "state", id: "1", placedAt, changedAt: minute(minutes), viewerId, ...sent, ...fields };
  };
  const [first, second, third] = [ofMinute(1, "v1"), ofMinute(2, "v2"), ofMinute(3, null)];
  for (const news of [
    [first, second, third],
    [third, first, second],
    [third, second, first],
    [second, third, first],
  ])
    expect(mergeAll(news)).toMatchObject({ viewerId: "v2", lsId: "show of v2" });
});

test("a refund that was reported while it was pending counts once a state tells that it succeeded, whatever comes first", () => {
  const common = { id: "1", placedAt, viewerId: null, lsId: null, channel: null };
  const of = (amount: number) => ({ id: "r1", at: minute(1).getTime(), amount, lines: [] });
  const paid = { ...common, kind: "state", isPaid: true, isCancelled: false, amount: 100, lines: [] } as const;
  const pending: OrderNews = { kind: "refund", id: "1", refund: of(0) };
  const told: OrderNews = { ...paid, changedAt: minute(2), remaining: 80, refunds: [of(20)] };
  const sent: OrderNews = { ...paid, changedAt: undefined, remaining: 100, refunds: [] };
  for (const news of [
    [pending, told, sent],
    [pending, sent, told],
    [told, pending, sent],
    [told, sent, pending],
    [sent, told, pending],
    [sent, pending, told],
  ])
    expect(countsOf(mergeAll(news))?.counted).toMatchObject({ gross: 1_000_000, refunds: [{ units: 200_000 }] });
});

test("news counts the same in any order, also twice", () => {
  const shuffled = history.chain((one) => {
    const news = newsOf(one);
    const any = fc.shuffledSubarray([...news, ...news], { minLength: news.length * 2 });
    return fc.record({ news: fc.constant(news), any });
  });
  fc.assert(
    fc.property(shuffled, ({ news, any }) => {
      expect(countsOf(mergeAll(any))).toEqual(countsOf(mergeAll(news)));
    }),
  );
});

test("what counts of an order is never more than was paid, and no refund is negative", () => {
  fc.assert(
    fc.property(history, (one) => {
      const order = mergeAll(newsOf(one));
      const counts = order && counted(order);
      if (counts === undefined) return;
      const refunded = counts.refunds.reduce((sum, { units }) => sum + units, 0);
      expect(refunded).toBeLessThanOrEqual(counts.gross);
      expect(counts.refunds.every(({ units }) => units > 0)).toBe(true);
      for (const { units, lines: own } of counts.refunds.filter((refund) =>
        refund.lines.some(({ amount }) => amount > 0),
      )) {
        expect(Math.round(own.reduce((sum, { amount }) => sum + amount * 10_000, 0))).toBe(units);
      }
    }),
  );
});
