import { expect, test } from "vitest";
import { recordEvents } from "../../src/events/record/events.record.js";
import type { ShopperEventInput } from "../../src/events/events.input.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { readAnalytics, record, saved } from "../support/shows.js";

// A batch in a variable reaches its resolver without being coerced by GraphQL.

/** Products are sorted by carts otherwise, of which there are none. */
const readSales = readAnalytics.replace("topProducts(first: $first)", "topProducts(first: $first, by: SALES)");

const app = await openTestApp({ analyticsRateLimit: 0 });

test("a batch counts the same as a literal and as a variable, single values as lists of one", async () => {
  const store = await createTestStore(app);
  const [literal, variable] = [(await saved(store)).id, (await saved(store)).id];
  const order = `{id: "a", type: ORDER, channel: LIVE, amount: 7.5, occurredAt: "2026-05-04T20:31:00.25+02:00",
    lines: {productId: "p", quantity: 2, amount: 7.5}}`;
  const { data: first } = await store.graphql(
    `mutation { recordShopperEvents(lsId: "${literal}", events: ${order}) { accepted } }`,
  );
  const sent = {
    id: "a",
    type: "ORDER",
    channel: "LIVE",
    amount: 7.5,
    occurredAt: "2026-05-04T20:31:00.25+02:00",
    device: null,
    lines: { productId: "p", quantity: 2, amount: 7.5 },
  };
  const { data: second } = await store.graphql(record, { lsId: variable, events: sent });
  expect([first.recordShopperEvents, second.recordShopperEvents]).toMatchObject([{ accepted: 1 }, { accepted: 1 }]);
  const [one, other] = await Promise.all(
    [literal, variable].map(async (lsId) => (await store.graphql(readSales, { lsId })).data.liveStreamAnalytics),
  );
  expect(other).toEqual({ ...one, id: variable });
  expect(other).toMatchObject({ kpis: { orders: { live: 1 } }, topProducts: [{ productId: "p", quantity: 2 }] });
});

test("an event of an unknown type or channel is refused at once, whoever sends it", async () => {
  const store = await createTestStore(app);
  const { id: lsId } = await saved(store);
  const events = [
    { id: "a", type: null, channel: "LIVE", viewerId: "v" },
    { id: "b", type: "VIEW", channel: "toString", viewerId: "v" },
  ] as unknown as ShopperEventInput[]; // as a caller without types could send them
  await expect(recordEvents(app.db, store.id, lsId, events, { lockWaitMs: 60_000 })).rejects.toMatchObject({
    code: "VALIDATION_FAILED",
    problems: [
      { code: "INVALID_VALUE", path: ["events", 0, "type"] },
      { code: "INVALID_VALUE", path: ["events", 1, "channel"] },
    ],
  });
});
