import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { cpuMicros } from "../load.js";
import { closeLater } from "../resources.js";
import { addStore, createDatabase, graphql, serve } from "../server.js";
import { atMost, percentile, progress, type Row } from "../table.js";
import { memoryPeak } from "./memory.js";
import { nextMessage } from "./messages.js";
import { memoryRow, row } from "./rows.js";

/** A show of a store of its own: each store has a share of all subscriptions. */
interface WatchedShow {
  readonly lsId: string;
  readonly token: string;
}

export interface WatchersTask {
  readonly url: string;
  readonly shows: readonly WatchedShow[];
  /** How many watch each show. */
  readonly subscribers: number;
  /** So many of them are looked at. */
  readonly sampled: number;
  /** Where the timelines begin. */
  readonly from: string;
}

export interface Opened {
  readonly opened: number;
}

export interface Watched {
  /** Subscriptions that did not stay open. */
  readonly ended: number;
  readonly bytes: number;
  /** The totals of orders that came to those who are looked at, and when, by Date.now(). */
  readonly values: readonly {
    readonly subscriber: string;
    readonly lsId: string;
    readonly orders: number;
    readonly at: number;
  }[];
}

const showCount = 10;
const subscribersOfShow = Number(process.env["BENCH_SUBSCRIBERS"] ?? 1_000);
const processes = 2;
const sampled = 10;
const warmUpSeconds = 5;
const seconds = 20;
const lastValuesMs = 10_000;
/** How long the watchers may take to answer: they open all of their subscriptions first. */
const answerMs = 240_000;

/** What thousands of open dashboards cost a server, and whether they are told in time. */
export async function dashboardRows(): Promise<Row[]> {
  const database = { DATABASE_URL: await createDatabase() };
  const server = await serve(database, { MAX_CONNECTIONS: "15000" });
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const shows: WatchedShow[] = [];
  for (let index = 0; index < showCount; index += 1) {
    const { token } = await addStore(database);
    const liveStream = { id: `show-${index}`, name: `Show ${index}`, status: "LIVE", startedAt: from };
    const operation = "mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }";
    await graphql({ url: server.url, token }, operation, { s: liveStream });
    shows.push({ lsId: liveStream.id, token });
  }
  const wanted = showCount * subscribersOfShow;
  progress(`  18: ${wanted} subscriptions`);
  const perProcess = subscribersOfShow / processes;
  const task = { url: server.url, shows, subscribers: perProcess, sampled: sampled / processes, from };
  const watchers = await Promise.all(Array.from({ length: processes }, () => startWatchers(task)));
  const opened = watchers.reduce((sum, watcher) => sum + watcher.opened, 0);
  progress(`  18: ${opened} opened`);

  const recorded = new Map(shows.map(({ lsId }) => [lsId, [] as number[]]));
  const updates = recordEachSecond(server.url, shows, recorded);
  await sleep(warmUpSeconds * 1_000);
  const [start, cpuBefore] = [performance.now(), cpuMicros(server.pid)];
  await sleep(seconds * 1_000);
  const cores = (cpuMicros(server.pid) - cpuBefore) / 1_000 / (performance.now() - start);
  const failed = await updates;
  await sleep(lastValuesMs);
  const seen = await Promise.all(watchers.map(({ end }) => end()));
  const ended = seen.reduce((sum, watched) => sum + watched.ended, 0);
  const late = seen.flatMap(({ values }) => lateness(values, recorded));
  if (late.length === 0) late.push(Number.POSITIVE_INFINITY); // no value came at all
  const name = `18, ${wanted.toLocaleString("en")} dashboards, one update a second of each show`;
  const megabytes = seen.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
  return [
    row(`${name}: subscriptions that were not opened or ended`, wanted - opened + ended, { bound: atMost(0, 0) }),
    row(`${name}: events not recorded`, failed, { bound: atMost(0, 0) }),
    row(`${name}: CPU`, cores, {
      digits: 2,
      unit: "cores",
      detail: `${megabytes.toFixed(0)} MB sent`,
      bound: atMost(1, 0.5),
    }),
    row(`${name}: latest value after the answer to its recording`, Math.max(...late) / 1_000, {
      digits: 2,
      unit: "s",
      detail: `median ${(percentile(late, 0.5) / 1_000).toFixed(2)} s`,
      bound: atMost(2, 2),
    }),
    memoryRow(name, memoryPeak(server.pid)),
  ];
}

async function startWatchers(task: WatchersTask) {
  const path = fileURLToPath(new URL("watchers.ts", import.meta.url));
  const child = fork(path, [], { execArgv: ["--import", "tsx"] });
  closeLater(async () => void child.kill("SIGKILL"));
  child.send(task);
  const { opened } = (await answer(child)) as Opened;
  const end = async () => {
    child.send("end");
    return (await answer(child)) as Watched;
  };
  return { opened, end };
}

async function answer(child: ChildProcess): Promise<unknown> {
  const message = await nextMessage(child, answerMs);
  if (message === undefined) throw new Error("The watchers ended.");
  return message;
}

/** One order a second of each show. @returns how many recordings failed */
async function recordEachSecond(
  url: string,
  shows: readonly WatchedShow[],
  recorded: ReadonlyMap<string, number[]>,
): Promise<number> {
  let failed = 0;
  const operation =
    "mutation ($lsId: String!, $events: [ShopperEventInput!]!) { recordShopperEvents(lsId: $lsId, events: $events) { accepted } }";
  const recordOne = async ({ lsId, token }: WatchedShow) => {
    const events = [{ id: randomUUID(), type: "ORDER", channel: "LIVE", amount: 1 }];
    await graphql({ url, token }, operation, { lsId, events });
    recorded.get(lsId)?.push(Date.now());
  };
  const under: Promise<void>[] = [];
  for (let second = 0; second < warmUpSeconds + seconds; second += 1) {
    const next = sleep(1_000);
    for (const show of shows) {
      const recording = recordOne(show).catch(() => void (failed += 1));
      under.push(recording);
    }
    await next;
  }
  await Promise.all(under);
  return failed;
}

/** For each order and each subscriber: how long after the answer to its recording a total with it came, in ms. */
function lateness(values: Watched["values"], recorded: ReadonlyMap<string, readonly number[]>): number[] {
  const bySubscriber = new Map<string, Watched["values"][number][]>();
  for (const value of values) {
    const own = bySubscriber.get(value.subscriber);
    if (own === undefined) bySubscriber.set(value.subscriber, [value]);
    else own.push(value);
  }
  return [...bySubscriber.values()].flatMap((own) => {
    const times = recorded.get(own[0]?.lsId ?? "") ?? [];
    return times.map((answeredAt, index) => {
      const reached = own.find(({ orders }) => orders > index);
      return Math.max(0, (reached?.at ?? Date.now()) - answeredAt);
    });
  });
}
