import { existsSync } from "node:fs";
import type { Request } from "autocannon";
import { makeReport, origin, pageHeaders, type PageReport, shows } from "./collect.pages.js";
import { createFloorEvents } from "./floor.events.js";
import { alternate, cpuMicros, describe, ratios, type Round, sendAll } from "./load.js";
import { startPace } from "./pace.js";
import { postRequest } from "./requests.js";
import {
  type BenchServer,
  createDatabase,
  graphql,
  query,
  type RunningService,
  startFloor,
  startServer,
} from "./server.js";
import { atLeast, atMost, percentile, plain, progress, type Row } from "./table.js";

const connections = 64;
const requestsPerRound = 20_000;
const rounds = 5;
const pace = { perSecond: 1_000, seconds: 10 };
const paceRounds = 5;

interface Stage {
  readonly server: BenchServer;
  readonly floor: RunningService;
  readonly databaseUrl: string;
  readonly key: string;
}

interface CollectRound extends Round {
  /** CPU time of the database's connections for each request. */
  readonly databaseMicros: number;
}

/** What pages report: requests of 1 to 3 events of one viewer each, of four shows. */
export async function benchCollect(): Promise<Row[]> {
  const stage = await setStage();
  const rows = [...(await throughputRows(stage)), ...(await paceRows(stage))];
  await checkStored(stage);
  return rows;
}

async function setStage(): Promise<Stage> {
  const databaseUrl = await createDatabase();
  const server = await startServer({ DATABASE_URL: databaseUrl }, { COLLECT_RATE_LIMIT: "0" });
  const { key } = await server.command("key", "issue", server.store, "--origin", origin);
  const startedAt = new Date().toISOString();
  for (const id of shows) {
    const liveStream = { id, name: id, status: "LIVE", startedAt };
    await graphql(server, "mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }", {
      s: liveStream,
    });
  }
  await query(databaseUrl, createFloorEvents);
  return { server, floor: await startFloor(databaseUrl), databaseUrl, key };
}

let sent = 0;

async function throughputRows(stage: Stage): Promise<Row[]> {
  progress(`collect: ${requestsPerRound} requests over ${connections} connections, ${rounds} rounds`);
  const { server, floor } = stage;
  let pending: PageReport[] | undefined;
  // Both sides get the same reports; whichever is first in a round makes them.
  const next = (): PageReport[] => {
    const made = pending ?? Array.from({ length: requestsPerRound }, (_, index) => makeReport(index));
    pending = pending === undefined ? made : undefined;
    return made;
  };
  const found = await alternate(
    rounds,
    () =>
      round(
        stage,
        server,
        next().map((report, index) => ourRequest(stage, report, index)),
      ),
    () =>
      round(
        stage,
        floor,
        next().map((report) => postRequest("/events/viewers", server.token, report)),
      ),
  );
  const median = (side: CollectRound[], value: (one: CollectRound) => number, unit = "µs") =>
    plain(side.map(value), 0, unit);
  const both = (value: (one: CollectRound) => number, unit?: string) =>
    [found.ours, found.floor].map((side) => median(side, value, unit));
  const [ours, floors] = both(({ cpuMicros: micros }) => micros);
  const [ourDatabase, floorDatabase] = both(({ databaseMicros }) => databaseMicros);
  const work = `/collect/v1 with 1 to 3 events, ${connections} connections`;
  return [
    {
      work: `${work}: requests a second`,
      values: found.ours.map(({ requestsPerSecond }) => requestsPerSecond),
      digits: 0,
      unit: "/s",
      bound: atLeast(2_500, 5_000),
      detail: `floor ${both(({ requestsPerSecond }) => requestsPerSecond, "/s")[1]}`,
    },
    {
      work: `${work}: CPU per request, the database's included, against the floor`,
      values: ratios(found, ({ cpuMicros: micros, databaseMicros }) => micros + databaseMicros),
      digits: 2,
      detail: `${ours} and ${ourDatabase} in the database, floor ${floors} and ${floorDatabase}`,
    },
  ];
}

async function round({ databaseUrl }: Stage, service: RunningService, requests: Request[]): Promise<CollectRound> {
  const before = await connectionsCpu(databaseUrl);
  const result = await sendAll(service, requests, connections);
  const after = await connectionsCpu(databaseUrl);
  const used = [...after].reduce((sum, [pid, micros]) => sum + micros - (before.get(pid) ?? 0), 0);
  return { ...result, databaseMicros: used / requests.length };
}

/** CPU time of each connection that is open, by the pid of its process. */
async function connectionsCpu(databaseUrl: string): Promise<Map<number, number>> {
  const open = await query(
    databaseUrl,
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  );
  return new Map(open.flatMap(({ pid }) => (existsSync(`/proc/${pid}/stat`) ? [[pid, cpuMicros(pid)]] : [])));
}

function ourRequest({ key }: Stage, report: PageReport, index: number): Request {
  sent += report.events.length;
  const body = JSON.stringify({ key, ...report });
  return { method: "POST", path: "/collect/v1", headers: pageHeaders(index), body };
}

async function paceRows(stage: Stage): Promise<Row[]> {
  const { send, stop } = startPace();
  progress(`collect: ${pace.perSecond} requests a second for ${pace.seconds} s, ${paceRounds} rounds`);
  const seen: (readonly number[])[] = [];
  for (let number = 0; number <= paceRounds; number += 1) {
    const requests = Array.from({ length: pace.perSecond * pace.seconds }, (_, index) =>
      ourRequest(stage, makeReport(index), index),
    );
    const latenciesMs = await send({ url: stage.server.url, perSecond: pace.perSecond, status: 202, requests });
    if (number > 0) seen.push(latenciesMs); // the first warms up
    const share = (of: number) => percentile(latenciesMs, of);
    progress(`  round ${number}: ${describe({ p50: share(0.5), p99: share(0.99), longest: share(1) })} ms`);
  }
  await stop();
  const at = (of: number) => seen.map((latenciesMs) => percentile(latenciesMs, of));
  return [
    {
      work: `/collect/v1 at ${pace.perSecond.toLocaleString("en")} requests a second: 99th percentile of latency`,
      values: at(0.99),
      digits: 1,
      unit: "ms",
      bound: atMost(50, 30),
      detail: `median ${plain(at(0.5), 1, "ms")}, longest ${plain(at(1), 1, "ms")}`,
    },
  ];
}

/** @throws {Error} where not exactly the events that were accepted are stored */
async function checkStored({ databaseUrl, server }: Stage): Promise<void> {
  const [row] = await query(databaseUrl, `SELECT count(*)::int AS events FROM "ShowEvent" WHERE "storeId" = $1`, [
    server.store,
  ]);
  if (row.events !== sent) throw new Error(`${row.events} events are stored of ${sent} accepted`);
}
