import * as fc from "fast-check";
import { expect, test } from "vitest";
import { counted } from "../../../src/analytics/orders/order.counted.js";
import { type KnownOrder, merge, type OrderNews } from "../../../src/analytics/orders/order.state.js";

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
});
const file = fc.record({ isGone: fc.boolean(), refunded: money });
const history = fc.record({
  states: fc.array(state, { maxLength: 3 }),
  refunds,
  apart: fc.subarray([...refundIds]),
  file: fc.option(file, { nil: undefined }),
  deletedAt: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
  restoredAt: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
  amountOfFile: money,
});

function newsOf(one: typeof history extends fc.Arbitrary<infer Value> ? Value : never): OrderNews[] {
  const common = { id: "1", placedAt, viewerId: null, lsId: null, channel: null } as const;
  const states = one.states.map(({ amount, left, listed, ...fields }, index) => ({
    ...common,
    ...fields,
    kind: "state" as const,
    changedAt: minute(index * 10 + 1),
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

test("news counts the same in any order, also twice", () => {
  const shuffled = history.chain((one) => {
    const news = newsOf(one);
    const any = fc.shuffledSubarray([...news, ...news], { minLength: news.length * 2 });
    return fc.record({ news: fc.constant(news), any });
  });
  fc.assert(
    fc.property(shuffled, ({ news, any }) => {
      const [one, other] = [mergeAll(news), mergeAll(any)];
      expect(other && counted(other)).toEqual(one && counted(one));
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
