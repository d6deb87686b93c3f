import { createHmac } from "node:crypto";
import { expect } from "vitest";
import { issueKey } from "../../../src/stores/publicKey.js";
import { setStore } from "../../../src/stores/store.js";
import { addHook } from "../../../src/orders/hooks/hook.js";
import { createTestStore, storeAt, type TestStore } from "../app.js";
import type { CrashSite } from "./crash.js";
import { payloadOf, shopifyOrder, shopifyRefund } from "../figures/hooks.js";
import { countedBy, netOf, unattributedOf } from "../figures/orders.js";
import { serve } from "../process.js";
import { type Random, seeded } from "./random.js";
import { recorded, saved } from "../shows.js";

interface Delivery {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const senders = 8;
const secret = "a secret";
const cents = (n: number): number => 1_000 + (n % 50) * 7;
const money = (amount: number): string => (amount / 100).toFixed(2);
const isRefunded = (n: number): boolean => n % 3 === 0;
const isCancelled = (n: number): boolean => n % 7 === 0;
/** A viewer whom the shop names, a page claims, or nobody knows. */
const viewerKinds = ["named", "claimed", "claimed", "named", "none"] as const;
const kindOf = (n: number) => viewerKinds[n % viewerKinds.length];

/** Everything that is said of an order: created, paid, refunded, cancelled, claimed. */
function deliveriesOf(n: number, hookPath: string, key: string): Delivery[] {
  const id = String(820_982_911_946_000_000n + BigInt(n));
  const viewer = `v${n % 10}`;
  const at = (seconds: number) => new Date(Date.parse("2026-05-04T19:00:00Z") + seconds * 1_000).toISOString();
  const order = (fields: object) =>
    shopifyOrder(id, {
      created_at: at(0),
      processed_at: at(0),
      total_price: money(cents(n)),
      current_total_price: money(cents(n)),
      ...(kindOf(n) === "named" && { note_attributes: [{ name: "vitrine_viewer", value: viewer }] }),
      ...fields,
    });
  const signed = (topic: string, value: object): Delivery => {
    const body = payloadOf(value);
    const signature = createHmac("sha256", secret).update(body).digest("base64");
    return { path: hookPath, headers: { "x-shopify-topic": topic, "x-shopify-hmac-sha256": signature }, body };
  };
  const refund = shopifyRefund("77", id, "2.50");
  const refunded = { refunds: [refund], current_total_price: money(cents(n) - 250), updated_at: at(60) };
  const claim = JSON.stringify({ key, events: [{ id: "c", type: "CLAIM", orderId: id, viewerId: viewer }] });
  return [
    signed("orders/create", order({ financial_status: "pending", updated_at: at(1) })),
    signed("orders/paid", order({ updated_at: at(1) })),
    ...(isRefunded(n) ? [signed("refunds/create", refund), signed("orders/updated", order(refunded))] : []),
    ...(isCancelled(n)
      ? [
          signed(
            "orders/cancelled",
            order({ ...(isRefunded(n) && refunded), cancelled_at: at(90), updated_at: at(90) }),
          ),
        ]
      : []),
    ...(kindOf(n) === "claimed" ? [{ path: "/collect/v1", headers: {}, body: claim }] : []),
  ];
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, place: random.whole(0, 1_000_000) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** Delivers all until the server is killed; what was not answered stays in the queue. @returns how many were answered */
async function deliver(url: string, queue: Delivery[], onAnswer: () => void): Promise<void> {
  const send = async (): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const { path, headers, body } = next;
      const answer = await fetch(`${url}${path}`, { method: "POST", headers, body }).catch(() => undefined);
      if (answer === undefined) return void queue.push(next);
      await answer.text().catch(() => undefined);
      if (answer.status === 503) queue.unshift(next);
      else expect([200, 202]).toContain(answer.status);
      onAnswer();
    }
  };
  await Promise.all(Array.from({ length: senders }, send));
}

/**
 * Delivers what shops say of orders in random order, twice, by 8 senders, to a server that is killed again and again, and compares
 * the figures with what the orders say.
 *
 * @returns how many servers were killed, and how many deliveries there were
 */
export async function crashOrders(
  site: CrashSite,
  { kills, orders, seed }: { kills: number; orders: number; seed: number },
) {
  const random = seeded(seed);
  const env = { LOG_LEVEL: "warn", ANALYTICS_RATE_LIMIT: "0", COLLECT_RATE_LIMIT: "0", ...site.env };
  let server = await serve(env);
  const database = await site.open();
  const { id, token } = await createTestStore({ url: server.url, db: database.client });
  const { key } = await issueKey(database.client, id, { origins: ["https://shop.example"] });
  await setStore(database.client, id, { currency: "EUR" });
  const { path } = await addHook(database.client, id, { from: "shopify", secret });
  await countedBy(database.client, id, { rule: "LAST_SHOW", windowHours: 168 });
  await database.close();
  const { id: lsId } = await saved(storeAt(server.url, { id, token }));
  const views = Array.from({ length: 10 }, (_, n) => ({
    id: `view${n}`,
    type: "VIEW" as const,
    channel: "LIVE" as const,
    viewerId: `v${n}`,
    seconds: 60,
    occurredAt: "2026-05-04T18:40:00.000Z",
  }));
  await recorded(storeAt(server.url, { id, token }), lsId, views);
  const all = Array.from({ length: orders }, (_, n) => deliveriesOf(n, path, key)).flat();
  const queue = shuffled([...all, ...all], random);
  const ofRound = Math.floor(queue.length / (kills + 1));
  for (let killed = 0; killed < kills; killed += 1) {
    let left = random.whole(1, ofRound);
    const running = server;
    const delivering = deliver(running.url, queue, () => {
      left -= 1;
      if (left === 0) void running.stop("SIGKILL");
    });
    await delivering;
    await running.stop("SIGKILL");
    server = await serve(env);
  }
  await deliver(server.url, queue, () => undefined);
  expect(queue).toEqual([]);
  await expectTotals(storeAt(server.url, { id, token }), lsId, orders);
  await server.stop();
  return { kills, deliveries: all.length * 2 };
}

async function expectTotals(store: TestStore, lsId: string, orders: number): Promise<void> {
  const sums = { show: { orders: 0, sales: 0, refunds: 0 }, none: { orders: 0, sales: 0, refunds: 0 } };
  for (let n = 0; n < orders; n += 1) {
    const sum = kindOf(n) === "none" ? sums.none : sums.show;
    sum.orders += 1;
    sum.sales += cents(n);
    sum.refunds += isCancelled(n) ? cents(n) : isRefunded(n) ? 250 : 0;
  }
  const { net: _, ...ofShow } = await netOf(store, lsId);
  const inCents = ({ orders: count, sales, refunds }: typeof sums.none) => ({
    orders: count,
    sales: Math.round(sales * 100),
    refunds: Math.round(refunds * 100),
  });
  expect({ show: inCents(ofShow), none: inCents(await unattributedOf(store)) }).toEqual(sums);
}
