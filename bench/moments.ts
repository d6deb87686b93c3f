import { type BenchServer, createDatabase, graphql, query, startServer } from "./server.js";
import { saveShow } from "./storage/stage.js";
import { atMost, progress, type Row } from "./table.js";

const rounds = 9;
const hours = 12;
const viewers = 33_000;
const eventsOfViewer = 30;
const pins = 300;
const lsId = "moments";

const ofMinutes = "seconds sales orders addToCart isExact";
const all = `${ofMinutes} netSales quantity viewersAtStart peakViewers averageViewers newViewers`;
const ofProduct = "ofProduct { sales orders quantity addToCart carts ordersWithin }";

/** Figures of intervals and moments of a show of twelve hours with a million events. */
export async function benchMoments(): Promise<Row[]> {
  const databaseUrl = await createDatabase();
  const stage = { ...(await startServer({ DATABASE_URL: databaseUrl })), databaseUrl };
  const begin = Math.floor(Date.now() / 60_000) * 60_000 - (hours + 1) * 3_600_000;
  await saveShow(stage, lsId, new Date(begin), { status: "ENDED", durationSeconds: hours * 3_600 });
  await insertEvents(databaseUrl, stage.store, begin);
  await query(databaseUrl, "VACUUM ANALYZE");
  progress("moments: rebuilding a million events");
  await stage.command("analytics", "rebuild", stage.store, lsId);
  await query(databaseUrl, "VACUUM ANALYZE");
  await savePins(stage, begin);
  const between = (fields: string) => (from: number, seconds: number) =>
    readShow(stage, `between(from: "${iso(from)}", until: "${iso(from + seconds * 1_000)}") { ${fields} }`);
  const anywhere = (seconds: number) => begin + Math.floor(Math.random() * (hours * 3_600 - seconds)) * 1_000;
  const anyLength = () => Math.ceil(Math.random() * hours * 3_600);
  return [
    await timed("any interval: what minutes have", atMost(40, 20), () => {
      const seconds = anyLength();
      return between(ofMinutes)(anywhere(seconds), seconds);
    }),
    await timed("15 minutes: all figures", atMost(60, 30), () => between(all)(anywhere(900), 900)),
    await timed("the whole show: all figures", atMost(1_500, 500), () => between(all)(begin, hours * 3_600)),
    await timed(`${pins} pins: all figures, in one query`, atMost(1_000, 300), () =>
      readShow(stage, `moments(kind: PIN, first: ${pins}) { figures { ${all} ${ofProduct} } }`),
    ),
    await indexRow(databaseUrl),
  ];
}

async function timed(work: string, bound: Row["bound"], read: () => Promise<unknown>): Promise<Row> {
  const values: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const start = performance.now();
    await read();
    if (round > 0) values.push(performance.now() - start); // the first one warms up
  }
  return {
    work: `1,000,000 events of ${hours} hours, ${work}`,
    values,
    digits: 0,
    unit: "ms",
    ...(bound && { bound }),
  };
}

function readShow(stage: BenchServer, fields: string): Promise<unknown> {
  return graphql(stage, `{ liveStreamAnalytics(lsId: "${lsId}") { ${fields} } }`, {});
}

/** Viewers who come at any time, and watch ten seconds for each event; some put a product into the cart, order, or get a refund. */
async function insertEvents(databaseUrl: string, store: string, begin: number): Promise<void> {
  await query(
    databaseUrl,
    `INSERT INTO "ShowEvent" ("storeId", show, id, type, channel, "viewerId", device, source, value, "productId", "occurredAt",
       "acceptedAt", position, "orderId", lines)
     SELECT $1, (SELECT number FROM "LiveStream" WHERE "storeId" = $1 AND id = $2), decode(md5(viewer || ' ' || n), 'hex'), type, 1,
       decode(md5(viewer::text), 'hex'), 'mobile', '', CASE WHEN type = 1 THEN 10 WHEN type = 2 THEN 0 ELSE 49.9 END,
       CASE WHEN type = 1 THEN '' ELSE 'p' || viewer % 50 END, "occurredAt", "occurredAt", n, '',
       CASE WHEN type = 3 THEN '[{"productId":"p' || viewer % 50 || '","quantity":1,"amount":49.9}]' ELSE '' END
     FROM (
       SELECT viewer, n, CASE WHEN r < 0.92 THEN 1 WHEN r < 0.97 THEN 2 WHEN r < 0.995 THEN 3 ELSE 4 END AS type,
         to_timestamp($3::float8 + starts + n * 10 + random() * 0.4) AS "occurredAt"
       FROM (SELECT viewer, random() * $4::float8 AS starts FROM generate_series(1, $5::int) AS viewer) AS v,
         LATERAL (SELECT n, random() + 0 * viewer AS r FROM generate_series(1, $6::int) AS n) AS e) AS happened
     ORDER BY "occurredAt"`,
    [store, lsId, begin / 1_000, hours * 3_600 - eventsOfViewer * 10 - 60, viewers, eventsOfViewer],
  );
}

async function savePins(stage: BenchServer, begin: number): Promise<void> {
  const step = (hours * 3_600_000) / pins;
  const moments = Array.from({ length: pins }, (_, index) => {
    const startedAt = begin + index * step + 7_000;
    const ends = { startedAt: iso(startedAt), endedAt: iso(startedAt + 120_000) };
    return { id: `pin-${index}`, kind: "PIN", productId: `p${index % 50}`, ...ends };
  });
  const save =
    "mutation ($lsId: String!, $moments: [MomentInput!]!) { saveMoments(lsId: $lsId, moments: $moments) { created } }";
  await graphql(stage, save, { lsId, moments });
}

async function indexRow(databaseUrl: string): Promise<Row> {
  const [row] = await query(
    databaseUrl,
    `SELECT 100.0 * pg_relation_size('"ShowEvent_times_idx"') / pg_total_relation_size('"ShowEvent"') AS percent`,
  );
  return {
    work: "disk of events: the part of the index of their times",
    values: [Number(row.percent)],
    digits: 2,
    unit: "%",
    bound: atMost(1, 1),
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
