import { randomUUID } from "node:crypto";
import { createDatabase, graphql, startServer } from "./server.js";
import { atLeast, progress, type Row } from "./table.js";

const clients = 8;
const batchEvents = 1_000;
const batchesPerClient = 12;
const rounds = 3;
const record =
  "mutation ($lsId: String!, $events: [ShopperEventInput!]!) { recordShopperEvents(lsId: $lsId, events: $events) { accepted duplicates } }";

/** Events recorded a second: batches of 1,000, 8 clients, one show. */
export async function benchEvents(): Promise<Row[]> {
  const server = await startServer({ DATABASE_URL: await createDatabase() });
  const liveStream = { id: "show", name: "Show", status: "LIVE", startedAt: new Date().toISOString() };
  await graphql(server, "mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }", { s: liveStream });
  progress(`events: ${clients} clients send ${batchesPerClient} batches of ${batchEvents} each, ${rounds} rounds`);
  const rates: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const batches = Array.from({ length: clients }, () => Array.from({ length: batchesPerClient }, makeBatch));
    const start = performance.now();
    await Promise.all(
      batches.map(async (own) => {
        for (const events of own) await graphql(server, record, { lsId: "show", events });
      }),
    );
    const seconds = (performance.now() - start) / 1_000;
    if (round > 0) rates.push((clients * batchesPerClient * batchEvents) / seconds); // the first warms up
  }
  const work = "events recorded a second, in batches of 1,000, 8 clients, one show";
  return [{ work, values: rates, digits: 0, unit: "/s", bound: atLeast(20_000, 50_000) }];
}

function makeBatch(): object[] {
  return Array.from({ length: batchEvents }, (_, index) => {
    const common = {
      id: randomUUID(),
      channel: index % 5 === 0 ? "REPLAY" : "LIVE",
      viewerId: `v${Math.floor(Math.random() * 50_000)}`,
    };
    if (index % 10 === 3) return { ...common, type: "ADD_TO_CART", productId: `p${index % 50}` };
    if (index % 20 === 7) return { ...common, type: "ORDER", amount: (index % 300) + 0.99 };
    return { ...common, type: "VIEW", seconds: index % 120, device: index % 3 === 0 ? "desktop" : "mobile" };
  });
}
