import { expect } from "vitest";
import type { Attribution } from "../../../src/orders/attribution/settings.js";
import { attributionState, recountPage, setAttribution } from "../../../src/orders/attribution/recount.js";
import { attributeDue, markLate } from "../../../src/orders/attribution/pendingAttribution.js";
import type { RootDatabase } from "../../../src/database/client.js";
import type { TestStore } from "../app.js";
import { until as waitUntil } from "../until.js";

export const ordersPath = "/external/analytics/v1/orders";

interface SentOrderLine {
  readonly productId?: string;
  readonly sku?: string;
  readonly quantity: number;
  readonly amount: number;
}

export interface SentOrder {
  readonly id: string;
  readonly placedAt: string;
  readonly amount: number;
  readonly currency?: string;
  readonly viewerId?: string;
  readonly lines?: readonly SentOrderLine[];
  readonly refunds?: readonly { id?: string; at?: string; amount: number; lines?: readonly SentOrderLine[] }[];
  readonly lsId?: string;
  readonly channel?: string;
}

/** An order of half an hour after the start of the show that `show()` makes. */
export function sentOrder(id: string, amount: number, fields: Partial<SentOrder> = {}): SentOrder {
  return { id, amount, placedAt: "2026-05-04T19:00:00.000Z", ...fields };
}

const recordOrders = `mutation ($orders: [OrderInput!]!) { recordOrders(orders: $orders) { accepted duplicates } }`;

export async function recordedOrders(store: TestStore, orders: readonly SentOrder[]) {
  const answer = await store.graphql(recordOrders, { orders });
  expect(answer).toEqual({ data: { recordOrders: expect.any(Object) } });
  return answer.data.recordOrders;
}

const lines = "lines { productId quantity amount }";

const orderFields = `id placedAt amount refunded viewerId isAttributed refunds { at amount ${lines} } ${lines}
  attributions { show { id name } channel amount refunded rule because evidence { kind at seconds productId } }`;

export async function readOrder(store: TestStore, id: string) {
  const answer = await store.graphql(`query ($id: String!) { order(id: $id) { ${orderFields} } }`, { id });
  expect(answer.errors).toBeUndefined();
  return answer.data.order;
}

let reads = 0;

/** Of all orders of 2026. Equal reads within a second would be one, so each is another. */
const unattributed = () => {
  const until = new Date(Date.parse("2027-01-01T00:00:00Z") + (reads += 1)).toISOString();
  return `storeAnalytics(from: "2026-01-01T00:00:00Z", until: "${until}") { unattributed { orders sales refunds } }`;
};

export async function unattributedOf(store: TestStore) {
  return (await store.graphql(`{ ${unattributed()} }`)).data.storeAnalytics.unattributed;
}

const kpisOfChannels = "kpis { sales { live replay referral } refunds { total } orders { live replay referral } }";

/**
 * What counts by show and channel, or under the key of the empty text for none, in the order of these keys; and the cents of all refunds
 * together.
 */
export async function figuresOfShows(store: TestStore, lsIds: readonly string[]) {
  const fields = lsIds.map((id) => `${id}: liveStreamAnalytics(lsId: "${id}") { ${kpisOfChannels} }`);
  const { data } = await store.graphql(`{ ${fields.join(" ")} ${unattributed()} }`);
  const counts = new Map<string, { orders: number; sales: number }>();
  let refunds = 0;
  for (const id of lsIds) {
    const { kpis: own } = data[id];
    for (const channel of ["live", "replay", "referral"]) {
      const [orders, sales] = [own.orders[channel], own.sales[channel]];
      if (orders !== 0 || sales !== 0) counts.set(`${id} ${channel.toUpperCase()}`, { orders, sales });
    }
    refunds += own.refunds.total;
  }
  const { orders, sales, refunds: others } = data.storeAnalytics.unattributed;
  if (orders !== 0 || sales !== 0) counts.set("", { orders, sales });
  return {
    counts: [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    refunds: Math.round((refunds + others) * 100),
  };
}

export async function attributionOf(store: TestStore, id: string) {
  return (await readOrder(store, id)).attributions;
}

/** Sales, refunds and orders of all channels of a show. */
export async function netOf(store: TestStore, lsId: string) {
  const query = `query ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) {
    kpis { sales { total } refunds { total } netSales { total } orders { total } } } }`;
  const { kpis } = (await store.graphql(query, { lsId })).data.liveStreamAnalytics;
  const { sales, refunds, netSales, orders } = kpis;
  return { sales: sales.total, refunds: refunds.total, net: netSales.total, orders: orders.total };
}

/** Attributes the orders of a store until none is due, as servers do. Those of other tests on the database may do a part of it. */
export async function sweptOrders(db: RootDatabase, storeId: string): Promise<void> {
  const where = { storeId };
  await waitUntil(async () => {
    await markLate(db, storeId);
    await attributeDue(db, storeId);
    const isRest = (await recountPage(db, storeId)).isRest || (await attributionState(db, storeId)).recount !== null;
    return !isRest && (await db.lateEvent.count({ where })) === 0;
  }, "all orders to be attributed");
}

/** Changes the rule of a store, and has all of its orders counted by it. */
export async function countedBy(db: RootDatabase, storeId: string, attribution: Attribution): Promise<void> {
  await setAttribution(db, storeId, attribution);
  await sweptOrders(db, storeId);
}
