import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { createDatabase, query } from "../server.js";
import { percentile, plain, progress, type Row } from "../table.js";

const upgrade = new URL("../../test/database/upgrade/", import.meta.url);
const program = new URL("../../dist/main.js", import.meta.url).pathname;
const batchEvents = 100;
const pauseMs = 10;
const quietMs = 5_000;
const eventsOfViewer = 20;
/** The table that the previous version records to is gone. */
const undefinedTable = "42P01";

/** A show with events as the version before small_event_rows has stored them: a view each minute, carts and orders now and then. */
const fill = `
  INSERT INTO "ShopperEvent"
  SELECT 'acme', 'ended', gen_random_uuid()::text, CASE WHEN n % 20 = 7 THEN 'ORDER' WHEN n % 10 = 3 THEN 'ADD_TO_CART' ELSE 'VIEW' END,
    CASE WHEN n % 2 = 0 THEN 'LIVE' ELSE 'REPLAY' END, md5((n % $2::int)::text)::uuid::text, 'mobile', n % 60,
    CASE WHEN n % 20 = 7 THEN 19.99 END, 'p' || n % 5,
    '2026-05-04T18:30:00Z'::timestamptz + make_interval(mins => n / $2::int), '2026-05-05T00:00:00Z', n % 1000
  FROM generate_series(1, $1::int) AS n`;
const fillViewers = [
  `INSERT INTO "LiveStreamViewer" SELECT "storeId", "liveStreamId", "channel", "viewerId", 'mobile' FROM "ShopperEvent"
   WHERE "liveStreamId" = 'ended' AND "type" <> 'ORDER' GROUP BY 1, 2, 3, 4 ON CONFLICT DO NOTHING`,
  `INSERT INTO "LiveStreamCartViewer" SELECT DISTINCT "storeId", "liveStreamId", "channel", "viewerId" FROM "ShopperEvent"
   WHERE "liveStreamId" = 'ended' AND "type" = 'ADD_TO_CART' ON CONFLICT DO NOTHING`,
  `INSERT INTO "LiveStreamPresence" SELECT DISTINCT "storeId", "liveStreamId", date_trunc('minute', "occurredAt", 'UTC'), "viewerId"
   FROM "ShopperEvent" WHERE "liveStreamId" = 'ended' AND "type" <> 'ORDER' ON CONFLICT DO NOTHING`,
  "VACUUM ANALYZE",
  "CHECKPOINT",
];

/** What recorders of the previous version wait for while its events are moved, and how long that takes. */
export async function upgradeRows(count: number): Promise<Row[]> {
  const databaseUrl = await createDatabase();
  await query(databaseUrl, "SELECT 1");
  const client = await connect(databaseUrl);
  await client.query(await readFile(new URL("20261122144000.sql", upgrade), "utf8"));
  await client.query(fill, [count, Math.ceil(count / eventsOfViewer)]);
  for (const statement of fillViewers) await client.query(statement);
  await client.end();
  progress(`storage: ${count} events of the previous version are stored`);

  const quiet = await record(databaseUrl, sleep(quietMs));
  const begun = performance.now();
  const migrating = migrate(databaseUrl);
  const during = await record(databaseUrl, migrating);
  await migrating;
  const tookMs = performance.now() - begun;
  const goneMs = performance.now() - (during.goneAt ?? performance.now());
  const [{ stored }] = await query(
    databaseUrl,
    `SELECT count(*)::float8 AS stored FROM "ShowEvent" AS e JOIN "LiveStream" AS s
    ON s."storeId" = e."storeId" AND s."number" = e."show" WHERE s."id" IN ('ended', 'empty')`,
  );
  const [{ first }] = await query(
    databaseUrl,
    `SELECT count(*)::float8 AS first FROM "ShowEvent" AS e JOIN "LiveStream" AS s
    ON s."storeId" = e."storeId" AND s."number" = e."show" WHERE s."id" = 'ended' AND e."acceptedAt" > '2026-05-05T00:00:00Z'`,
  );
  const lost = count + first + quiet.events + during.events - stored;
  if (lost !== 0) throw new Error(`${lost} events were lost`);
  const all = count.toLocaleString("en");
  const row = (work: string, value: number, unit: string, detail: string, digits = 1): Row => ({
    work,
    values: [value],
    digits,
    unit,
    detail,
  });
  return [
    row(
      `longest wait of a recorder of the previous version while ${all} events are moved`,
      Math.max(...during.waits),
      "ms",
      `99th percentile ${plain([percentile(during.waits, 0.99)], 1, "ms")} of ${during.waits.length} batches of ${batchEvents}; before the move ${plain([Math.max(...quiet.waits)], 1, "ms")} and ${plain([percentile(quiet.waits, 0.99)], 1, "ms")}`,
    ),
    row(
      `upgrade with ${all} events`,
      tookMs / 1_000,
      "s",
      `${plain([(tookMs / count) * 1_000], 1, "µs")} for each event`,
    ),
    row(
      "from the switch to the end of the upgrade",
      goneMs / 1_000,
      "s",
      `${plain([(goneMs / count) * 1_000], 2, "µs")} for each event`,
      2,
    ),
  ];
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}

async function migrate(databaseUrl: string): Promise<void> {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [program, "migrate"], {
    env: { PATH, DATABASE_URL: databaseUrl },
    stdio: "inherit",
  });
  const status = await new Promise((resolve) => child.once("close", resolve));
  if (status !== 0) throw new Error(`migrate ended with ${String(status)}`);
}

interface Recorded {
  readonly waits: readonly number[];
  readonly events: number;
  /** When the old tables were gone. */
  readonly goneAt: number | undefined;
}

/** Records batch after batch as the previous version, until the work is done or the tables are gone. */
async function record(databaseUrl: string, work: Promise<unknown>): Promise<Recorded> {
  const statement = await readFile(new URL("statements/record.20261122144000.sql", upgrade), "utf8");
  const client = await connect(databaseUrl);
  const viewers = Array.from({ length: 1_000 }, () => randomUUID());
  const waits: number[] = [];
  const running = { isDone: false };
  const end = () => {
    running.isDone = true;
  };
  work.then(end, end);
  let goneAt: number | undefined;
  for (let batch = 0; !running.isDone && goneAt === undefined; batch += 1) {
    const of = <Value>(value: (index: number) => Value) =>
      Array.from({ length: batchEvents }, (_, index) => value(index));
    const values = [
      "acme",
      "empty",
      batch % 16,
      new Date(),
      null,
      of(() => randomUUID()),
      of(() => "VIEW"),
      of(() => "LIVE"),
      of((index) => viewers[(batch * batchEvents + index) % viewers.length]),
      of(() => "mobile"),
      of(() => 1),
      of(() => null),
      of(() => null),
      of(() => new Date()),
    ];
    const begin = performance.now();
    try {
      const { rows } = await client.query({ name: "record", text: statement, values });
      if (rows[0].accepted !== batchEvents) throw new Error(`accepted ${rows[0].accepted}`);
      waits.push(performance.now() - begin);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== undefinedTable) throw error;
      goneAt = performance.now();
    }
    await sleep(pauseMs);
  }
  await client.end();
  return { waits, events: waits.length * batchEvents, goneAt };
}
