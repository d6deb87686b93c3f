import { createHmac } from "node:crypto";
import type { Request } from "autocannon";
import { describe, sendAll } from "./load.js";
import { startPace } from "./pace.js";
import { type BenchServer, createDatabase, graphql, query, startServer } from "./server.js";
import { atLeast, atMost, percentile, plain, progress, type Row } from "./table.js";

const hooks = { connections: 64, perRound: 5_000, rounds: 5 };
const pace = { perSecond: 200, seconds: 10, rounds: 3 };
const recount = { orders: Number(process.env["BENCH_ORDERS"] ?? 1_000_000), shows: 100, viewers: 500_000, days: 30 };
const secret = "shpss_benchmark";
const day = 86_400_000;

interface Stage extends BenchServer {
  readonly databaseUrl: string;
}

/** Deliveries of Shopify, and a change of the rule by which a store's orders count. */
export async function benchOrders(): Promise<Row[]> {
  const databaseUrl = await createDatabase();
  const stage = { ...(await startServer({ DATABASE_URL: databaseUrl })), databaseUrl };
  await stage.command("store", "set", stage.store, "--currency", "EUR");
  const { url } = await stage.command("hook", "add", stage.store, "--from", "shopify", "--secret", secret);
  const path = new URL(url).pathname;
  return [...(await deliveryRows(stage, path)), ...(await paceRows(stage, path)), ...(await recountRows(stage))];
}

async function deliveryRows(stage: Stage, path: string): Promise<Row[]> {
  progress(`orders: ${hooks.perRound} deliveries over ${hooks.connections} connections, ${hooks.rounds} rounds`);
  const seen: { requestsPerSecond: number; cpuMicros: number }[] = [];
  for (let round = 0; round <= hooks.rounds; round += 1) {
    const result = await sendAll(stage, deliveries(path, hooks.perRound), hooks.connections);
    progress(`  round ${round}: ${describe(result)}`);
    if (round > 0) seen.push(result); // the first warms up
  }
  const cpu = plain(
    seen.map(({ cpuMicros }) => cpuMicros),
    0,
    "µs",
  );
  return [
    {
      work: `orders delivered by a hook of Shopify, ${hooks.connections} connections: deliveries a second`,
      values: seen.map(({ requestsPerSecond }) => requestsPerSecond),
      digits: 0,
      unit: "/s",
      bound: atLeast(1_000, 2_000),
      detail: `CPU per delivery ${cpu}`,
    },
  ];
}

async function paceRows(stage: Stage, path: string): Promise<Row[]> {
  progress(`orders: ${pace.perSecond} deliveries a second for ${pace.seconds} s, ${pace.rounds} rounds`);
  const { send, stop } = startPace();
  const seen: (readonly number[])[] = [];
  for (let round = 0; round <= pace.rounds; round += 1) {
    const requests = deliveries(path, pace.perSecond * pace.seconds);
    const latenciesMs = await send({ url: stage.url, perSecond: pace.perSecond, status: 200, requests });
    if (round > 0) seen.push(latenciesMs); // the first warms up
  }
  await stop();
  const at = (of: number) => seen.map((latenciesMs) => percentile(latenciesMs, of));
  return [
    {
      work: `the same at ${pace.perSecond} deliveries a second: 99th percentile of latency`,
      values: at(0.99),
      digits: 1,
      unit: "ms",
      bound: atMost(50, 20),
      detail: `median ${plain(at(0.5), 1, "ms")}, longest ${plain(at(1), 1, "ms")}`,
    },
  ];
}

let delivered = 0;

/** Deliveries of orders that are new, signed. */
function deliveries(path: string, count: number): Request[] {
  return Array.from({ length: count }, () => {
    delivered += 1;
    const at = new Date(Date.now() - 60_000).toISOString();
    const line = {
      product_id: delivered % 500,
      sku: `sku-${delivered % 500}`,
      title: "Shirt",
      price: "40.00",
      quantity: 2,
    };
    const body = JSON.stringify({
      id: 5_000_000_000_000 + delivered,
      financial_status: "paid",
      currency: "EUR",
      total_price: "84.90",
      current_total_price: "84.90",
      created_at: at,
      processed_at: at,
      updated_at: at,
      note_attributes: [{ name: "vitrine_viewer", value: `v${delivered % recount.viewers}` }],
      line_items: [line],
      refunds: [],
      customer: { email: "kim@example.com", first_name: "Kim" },
    });
    const signature = createHmac("sha256", secret).update(body).digest("base64");
    const headers = {
      "content-type": "application/json",
      "x-shopify-topic": "orders/paid",
      "x-shopify-hmac-sha256": signature,
      "x-shopify-webhook-id": String(delivered),
    };
    return { method: "POST", path, headers, body };
  });
}

async function recountRows(stage: Stage): Promise<Row[]> {
  await storeOrders(stage);
  const values: number[] = [];
  const reads: number[] = [];
  const rules = ["LAST_SHOW", "AS_SENT", "LAST_SHOW"];
  let orders = 0; // those that the rounds before have delivered are among them
  for (const [round, rule] of rules.entries()) {
    progress(`orders: counting all orders by ${rule}`);
    const probe = probeReads(stage);
    const start = performance.now();
    ({ due: orders } = await stage.command("attribution", "set", stage.store, "--rule", rule));
    await recounted(stage);
    const seconds = (performance.now() - start) / 1_000;
    const latencies = await probe();
    progress(`  ${seconds.toFixed(1)} s, longest read ${Math.max(...latencies).toFixed(0)} ms`);
    if (round === 0) continue; // it creates the index of events by viewer
    values.push(seconds);
    reads.push(percentile(latencies, 0.99));
  }
  return [
    {
      work: `a change of the rule of attribution over ${orders.toLocaleString("en")} orders`,
      values,
      digits: 1,
      unit: "s",
      bound: atMost(15, 10),
      detail: `a show's figures meanwhile: 99th percentile ${plain(reads, 1, "ms")}`,
    },
  ];
}

/** Resolves once the server has counted all orders anew. */
async function recounted({ databaseUrl, store }: Stage): Promise<void> {
  for (;;) {
    const [left] = await query(databaseUrl, `SELECT FROM "Store" WHERE id = $1 AND "recountOrders" IS NOT NULL`, [
      store,
    ]);
    if (left === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Reads the figures of a show all the time. @returns a function that ends that, and returns the latencies in milliseconds */
function probeReads(stage: Stage): () => Promise<readonly number[]> {
  const latencies: number[] = [];
  const over = new AbortController();
  const reading = (async () => {
    while (!over.signal.aborted) {
      const start = performance.now();
      await graphql(
        stage,
        `
          {
            liveStreamAnalytics(lsId: "show-7") {
              kpis {
                sales {
                  total
                }
              }
            }
          }
        `,
        {},
      );
      latencies.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return async () => {
    over.abort();
    await reading;
    return latencies;
  };
}

/**
 * Stores shows, a VIEW of each viewer in two of them, and orders that the shop sent without a show, two of each viewer, directly in the
 * database, which takes less time. Their ids follow their times, as those of shops do.
 */
async function storeOrders({ databaseUrl, store, ...stage }: Stage): Promise<void> {
  progress(`orders: storing ${recount.orders} orders`);
  const start = Date.now() - recount.days * day;
  for (let index = 0; index < recount.shows; index += 1) {
    const startedAt = new Date(start + (index / recount.shows) * (recount.days - 1) * day).toISOString();
    const s = { id: `show-${index}`, name: `Show ${index}`, status: "ENDED", startedAt, durationSeconds: 3_600 };
    await graphql(stage, "mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }", { s });
  }
  await query(
    databaseUrl,
    `INSERT INTO "ShowEvent" ("storeId", show, id, type, channel, "viewerId", device, source, value, "productId", "occurredAt",
       "acceptedAt", position, "orderId", lines)
     SELECT s."storeId", s.number, uuid_send(gen_random_uuid()), 1, 1, convert_to('v' || (i * 7919 + n * 104729) % $2::int, 'UTF8'), 'mobile',
       '', 60, '', s."startedAt" + i % 3600 * interval '1 second', s."startedAt", i % 1000, '', ''
     FROM (SELECT *, row_number() OVER (ORDER BY "startedAt") AS n FROM "LiveStream" WHERE "storeId" = $1) AS s,
       generate_series(1, 2 * $2::int / $3::int) AS i`,
    [store, recount.viewers, recount.shows],
  );
  const lines = `[{"productId":"p1","quantity":2,"amount":80}]`;
  const state = `{"gross":84.9,"newest":{"changedAt":0,"isPaid":true,"isCancelled":false,"remaining":84.9,"lines":${lines},"listed":[]},"refunds":[]}`;
  await query(
    databaseUrl,
    `WITH made AS (
       INSERT INTO "ShopOrder" ("storeId", id, "placedAt", "viewerId", "claimedBy", "lsId", channel, "isPaid", state)
       SELECT $1, 'order-' || 10000000 + i, to_timestamp($2::float8 / 1000) + i * $3::int * interval '1 day' / $6::int,
         convert_to('v' || i * 104723::bigint % $4::int, 'UTF8'), '', '', 0, true, $5
       FROM generate_series(1, $6::int) AS i
       RETURNING *)
     INSERT INTO "OrderPart" ("storeId", "orderId", place, "placedAt", at, show, channel, rule, reason, "productId", amount, refunded,
       seconds, lines, refunds)
     SELECT "storeId", id, 0, "placedAt", "placedAt", 0, 0, 0, 1, '', 84.9, 0, 0, $7, '[]' FROM made`,
    [store, start, recount.days, recount.viewers, state, recount.orders, lines],
  );
  await query(databaseUrl, "VACUUM ANALYZE");
}
