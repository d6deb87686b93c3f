import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import autocannon, { type Request } from "autocannon";
import type { RunningService } from "./server.js";
import { percentile, progress } from "./table.js";

/** What one round of requests showed. */
export interface Round {
  /** CPU time of the server process, with all its threads, for each request. */
  readonly cpuMicros: number;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

export const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** Sends each request once, over so many connections that each send theirs one after the other. */
export async function sendAll(service: RunningService, requests: Request[], connections: number): Promise<Round> {
  const latencies: number[] = [];
  let started = 0;
  const cpuBefore = cpuMicros(service.pid);
  const begin = performance.now();
  const run = autocannon({
    url: service.url,
    connections,
    amount: requests.length,
    timeout: 60,
    sampleInt: 50,
    setupClient(client) {
      const first = started;
      started += 1;
      client.setRequests(requests.filter((_, index) => index % connections === first));
    },
  });
  let end = begin;
  run.on("response", (_client, _status, _bytes, ms: number) => {
    latencies.push(ms);
    end = performance.now();
  });
  const { errors, non2xx } = await run;
  if (errors > 0 || non2xx > 0 || latencies.length !== requests.length) {
    throw new Error(`${service.url}: ${errors} errors, ${non2xx} refused, ${latencies.length} of ${requests.length}`);
  }
  return {
    cpuMicros: (cpuMicros(service.pid) - cpuBefore) / requests.length,
    requestsPerSecond: requests.length / ((end - begin) / 1_000),
    p99Ms: percentile(latencies, 0.99),
  };
}

/** What each side showed, round by round. */
export interface Alternation<Result> {
  readonly ours: Result[];
  readonly floor: Result[];
}

/** Lets both take turns, a different one first in each round, after a round of each that warms up and does not count. */
export async function alternate<Result>(
  rounds: number,
  ours: () => Promise<Result>,
  floor: () => Promise<Result>,
): Promise<Alternation<Result>> {
  const found: Alternation<Result> = { ours: [], floor: [] };
  await ours();
  await floor();
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) found.ours.push(await ours());
    found.floor.push(await floor());
    if (round % 2 === 1) found.ours.push(await ours());
    progress(`  round ${round + 1}: ${describe(found.ours[round])}, floor ${describe(found.floor[round])}`);
  }
  return found;
}

/** The quotients of what both showed in the same round. */
export function ratios<Result>({ ours, floor }: Alternation<Result>, value: (result: Result) => number): number[] {
  return ours.flatMap((result, round) => {
    const other = floor[round];
    return other === undefined ? [] : [value(result) / value(other)];
  });
}

/** For progress: figures without their fractions. */
export function describe(result: unknown): string {
  return JSON.stringify(result, (_, value: unknown) => (typeof value === "number" ? Math.round(value) : value));
}

/** User and system time of all threads, those that have ended too. The name, in parentheses, may hold anything. */
export function cpuMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1e6;
}
