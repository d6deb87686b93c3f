import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { storeProducts } from "./requests.js";
import { closeLater } from "./resources.js";
import { createDatabase, graphql, query, startServers } from "./server.js";
import { atMost, percentile, progress, type Row } from "./table.js";
import type { MixedReport, MixedTask } from "./mixed.load.js";

const seconds = Number(process.env["BENCH_SECONDS"] ?? 60);
/** Code is compiled and heaps find their size in this time. */
const warmUpSeconds = Math.min(40, seconds);
/** Memory is looked at this long, twice: what counts is the middle of what is seen. */
const memoryWindowSeconds = Math.min(12, seconds / 5);
const redisUrl = process.env["BENCH_REDIS_URL"] ?? "redis://127.0.0.1:6379";
const shows = ["show-1", "show-2"];

/** Two servers on one PostgreSQL and one Redis under everything at once: what fails, what is lost, what grows, who waits. */
export async function benchMixed(): Promise<Row[]> {
  const databaseUrl = await createDatabase();
  const servers = await startServers({ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl }, 2);
  const [first] = servers;
  for (const id of shows) {
    const liveStream = { id, name: id, status: "LIVE", startedAt: new Date().toISOString() };
    await graphql(first, "mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }", {
      s: liveStream,
    });
  }
  await storeProducts(first);
  const { token } = first;
  progress(`mixed: ${warmUpSeconds} s to warm up, then ${seconds} s`);
  const urls = servers.map(({ url }) => url);
  const running = runLoad({ urls, token, shows, seconds: warmUpSeconds + seconds, warmUpSeconds });
  await sleep(warmUpSeconds * 1_000);
  const before = await watchMemory(servers.map(({ pid }) => pid));
  await sleep((seconds - 2 * memoryWindowSeconds) * 1_000);
  const after = await watchMemory(servers.map(({ pid }) => pid));
  const report = await running;
  return rowsOf(report, await countLost(databaseUrl, first.store, report), before, after);
}

/** In a process of its own, so that neither waits for the other. */
async function runLoad(task: MixedTask): Promise<MixedReport> {
  const path = fileURLToPath(new URL("mixed.load.ts", import.meta.url));
  const load = spawn(process.execPath, ["--import", "tsx", path], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  closeLater(async () => void load.kill("SIGKILL"));
  load.send(task);
  const ended = once(load, "exit").then(([code]) => Promise.reject(new Error(`The load ended with ${code}.`)));
  const [report] = (await Promise.race([once(load, "message"), ended])) as [MixedReport];
  return report;
}

/** The median of each process's resident memory over a few seconds, in MB: collections make it go up and down. */
async function watchMemory(pids: readonly number[]): Promise<number[]> {
  const seen = pids.map((): number[] => []);
  const end = performance.now() + memoryWindowSeconds * 1_000;
  while (performance.now() < end) {
    pids.forEach((pid, index) => seen[index]?.push(residentMegabytes(pid)));
    await sleep(100);
  }
  return seen.map((values) => percentile(values, 0.5));
}

function residentMegabytes(pid: number): number {
  const [, kilobytes = NaN] = /^VmRSS:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}

/**
 * How far the totals of the shows are from what the servers said that they had accepted: orders, in number and in money.
 * And how many subscribers were last told another total than the one that is stored.
 */
async function countLost(
  databaseUrl: string,
  store: string,
  { accepted, orders, sales, lastSeen }: MixedReport,
): Promise<number> {
  const [events] = await query(databaseUrl, `SELECT count(*)::int AS count FROM "ShowEvent" WHERE "storeId" = $1`, [
    store,
  ]);
  const [totals] = await query(
    databaseUrl,
    `SELECT coalesce(sum(orders), 0)::int AS orders, coalesce(sum(sales), 0)::float8 AS sales FROM "LiveStreamTotal" WHERE "storeId" = $1`,
    [store],
  );
  const isEqual = totals.orders === orders && Math.round(totals.sales * 100) === Math.round(sales * 100);
  if (!isEqual) progress(`  totals: ${JSON.stringify(totals)}, accepted: ${JSON.stringify({ orders, sales })}`);
  const ofShows = await query(
    databaseUrl,
    `SELECT "liveStreamId" AS "lsId", sum(orders)::int AS orders FROM "LiveStreamTotal" WHERE "storeId" = $1 GROUP BY 1`,
    [store],
  );
  const stored = new Map(ofShows.map((show) => [show.lsId, show.orders]));
  const behind = lastSeen.filter((seen) => seen.orders !== stored.get(seen.lsId));
  if (behind.length > 0)
    progress(`  subscribers saw last: ${JSON.stringify(behind)}, stored: ${JSON.stringify(ofShows)}`);
  const lost = Math.abs(events.count - accepted) + Math.abs(totals.orders - orders) + (isEqual ? 0 : 1);
  return lost + behind.length;
}

function rowsOf(report: MixedReport, lost: number, before: readonly number[], after: readonly number[]): Row[] {
  const megabytes = (values: readonly number[]) => values.map((value) => `${Math.round(value)}`).join(" and ");
  // Of both together: when each collects its garbage is a matter of chance. Down is as telling as up: what was measured at
  // the start was then no state that lasts.
  const change = Math.abs((100 * sum(after)) / sum(before) - 100);
  const work = `two servers, mixed load for ${seconds} s`;
  const count = sum(report.kinds.map(({ latencies }) => latencies.length));
  return [
    {
      work: `${work}: errors`,
      values: [report.errors],
      digits: 0,
      detail: report.firstError ?? `of ${count.toLocaleString("en")} calls`,
      bound: atMost(0, 0),
    },
    {
      work: `${work}: events lost or counted twice, and subscriptions without the last total`,
      values: [lost],
      digits: 0,
      detail: `of ${report.accepted.toLocaleString("en")} accepted`,
      bound: atMost(0, 0),
    },
    {
      work: `${work}: change of resident memory after the warm-up, up or down`,
      values: [change],
      digits: 1,
      unit: "%",
      detail: `${megabytes(before)} MB, at the end ${megabytes(after)} MB`,
      bound: atMost(15, 5),
    },
    ...report.kinds.map(({ name, latencies }) => ({
      work: `${work}: ${name}, 99th percentile`,
      values: [percentile(latencies, 0.99)],
      digits: 1,
      unit: "ms",
      detail: `${latencies.length.toLocaleString("en")} calls, median ${percentile(latencies, 0.5).toFixed(1)} ms`,
    })),
  ];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
