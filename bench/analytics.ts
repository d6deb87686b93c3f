import pg from "pg";
import { type BenchServer, graphql, median, startServer } from "./server.js";

const rounds = 7;
const readsPerRound = 300;

/** The time of an analytics read: a show with 10 million events against one with a thousand. */
export async function benchAnalytics(): Promise<string[]> {
  const server = await startServer();
  try {
    const small = await makeShow(server, "small", 1_000);
    const large = await makeShow(server, "large", Number(process.env["BENCH_EVENTS"] ?? 10_000_000));
    const ratios: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const smallMs = await timeReads(server, small);
      const ratio = (await timeReads(server, large)) / smallMs;
      if (round > 0) ratios.push(ratio);
    }
    return [
      `| analytics read, ${process.env["BENCH_EVENTS"] ?? "10 million"} events against 1 thousand | ${median(ratios).toFixed(2)} | ≤ 1.3 |`,
    ];
  } finally {
    await server.stop();
  }
}

/** Writes the events past the service, which would take minutes, and has it rebuild its totals from them. */
async function makeShow(server: BenchServer, id: string, events: number): Promise<string> {
  const liveStream = { id, name: id, status: "LIVE", startedAt: new Date(Date.now() - 7_200_000).toISOString() };
  await graphql(server, "mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }", { s: liveStream });
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  await client.query(
    `INSERT INTO "ShopperEvent" ("storeId", "liveStreamId", id, type, channel, "viewerId", device, seconds, amount, "productId",
       "occurredAt", "acceptedAt", position)
     SELECT $1, $2, lpad(i::text, 9, '0'), (ARRAY['VIEW','VIEW','VIEW','ADD_TO_CART','ORDER'])[1 + i % 5],
       (ARRAY['LIVE','LIVE','REPLAY'])[1 + i % 3], 'v' || i % 200000, (ARRAY['mobile','desktop','tablet'])[1 + i % 3], i % 100,
       (i % 300) + 0.99, 'p' || i % 50, now() - (i % 7200) * interval '1 second', now(), i
     FROM generate_series(1, $3::int) AS i`,
    [server.store, id, events],
  );
  await client.query("VACUUM ANALYZE");
  await client.end();
  const start = performance.now();
  await server.command("analytics", "rebuild", server.store, id);
  process.stderr.write(`rebuilt ${events} events in ${((performance.now() - start) / 1_000).toFixed(1)} s\n`);
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
