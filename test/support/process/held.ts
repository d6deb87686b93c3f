import { readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { scrape } from "./metrics.js";
import type { Place, Serving } from "../process.js";

/** What a server holds for requests. */
export interface Held {
  /** By series of `/metrics`, those that are not 0. */
  readonly series: Readonly<Record<string, number>>;
  /** Temporary files: open, with or without a name, and named. */
  readonly open: readonly string[];
  readonly named: readonly string[];
  readonly threads: number;
}

const ofRequests = /^vitrine_(?:places_held|places_waiting|body_bytes|live_subscriptions|database_waiting)/u;
/** Ports of threads, sockets, timers, files: what keeps the event loop busy. */
const ofNode = /^nodejs_active_resources\{type="(?:MessagePort|FSReqPromise|FSReqCallback|Zlib)"/u;

/** A series of the database's connections counts what the sweeps in the background hold, too. */
export async function heldBy({ url, pid }: Serving, { temporary }: Place): Promise<Held> {
  const series = [...(await scrape(url))].filter(
    ([name, value]) => (ofRequests.test(name) || ofNode.test(name)) && value !== 0,
  );
  return {
    series: Object.fromEntries(series),
    open: (await openFiles(pid)).filter((path) => path.startsWith(temporary)),
    named: await readdir(temporary),
    threads: (await readdir(`/proc/${pid}/task`)).length,
  };
}

async function openFiles(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const links = await Promise.all(
    (await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => "")), // closed meanwhile
  );
  return links.filter((path) => path !== "");
}
