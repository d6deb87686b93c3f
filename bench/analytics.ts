import { type BenchServer, createDatabase, graphql, query, startServer } from "./server.js";
import { atMost, plain, progress, type Row } from "./table.js";

const rounds = 7;
const readsPerRound = 300;

/** The time of an analytics read: a show with millions of events against one with a thousand. */
export async function benchAnalytics(events: number): Promise<Row[]> {
  const databaseUrl = await createDatabase();
  const server = await startServer({ DATABASE_URL: databaseUrl });
  const small = await makeShow(server, databaseUrl, "small", 1_000);
  const large = await makeShow(server, databaseUrl, "large", events);
  const ratios: number[] = [];
  const millisPerRead: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const smallMs = await timeReads(server, small);
    const largeMs = await timeReads(server, large);
    if (round === 0) continue; // it warms up
    ratios.push(largeMs / smallMs);
    millisPerRead.push(largeMs / readsPerRound);
  }
  return [
    {
      work: `analytics read, ${events.toLocaleString("en")} events against 1,000: time`,
      values: ratios,
      digits: 2,
      detail: `${plain(millisPerRead, 2, "ms")} a read`,
      bound: atMost(1.3, 1),
    },
  ];
}

/** Inserts the events directly into the database, since the service would take minutes, which then rebuilds its totals. */
async function makeShow(server: BenchServer, databaseUrl: string, id: string, events: number): Promise<string> {
  const liveStream = { id, name: id, status: "LIVE", startedAt: new Date(Date.now() - 7_200_000).toISOString() };
  await graphql(server, "mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }", { s: liveStream });
  await query(
    databaseUrl,
    `INSERT INTO "ShowEvent" ("storeId", show, id, type, channel, "viewerId", device, source, value, "productId", "occurredAt",
       "acceptedAt", position, "orderId", lines)
     SELECT $1, (SELECT number FROM "LiveStream" WHERE "storeId" = $1 AND id = $2), convert_to(lpad(i::text, 9, '0'), 'UTF8'),
       (ARRAY[1,1,1,2,3])[1 + i % 5], (ARRAY[1,1,2])[1 + i % 3], convert_to('v' || i % 200000, 'UTF8'), (ARRAY['mobile','desktop','tablet'])[1 + i % 3], '',
       CASE WHEN i % 5 = 4 THEN (i % 300) + 0.99 ELSE i % 100 END, 'p' || i % 50, now() - (i % 7200) * interval '1 second', now(),
       i % 10000, '', ''
     FROM generate_series(1, $3::int) AS i`,
    [server.store, id, events],
  );
  await query(databaseUrl, "VACUUM ANALYZE");
  const start = performance.now();
  await server.command("analytics", "rebuild", server.store, id);
  progress(`analytics: rebuilt ${events} events in ${((performance.now() - start) / 1_000).toFixed(1)} s`);
  return id;
}

async function timeReads({ url, token }: BenchServer, id: string): Promise<number> {
  const start = performance.now();
  for (let read = 0; read < readsPerRound; read += 1) {
    const response = await fetch(`${url}/external/analytics/v1/live-streams/${id}`, {
      headers: { "x-service-access-token": token },
    });
    if (response.status !== 200) throw new Error(`status ${response.status}`);
    await response.text();
  }
  return performance.now() - start;
}
