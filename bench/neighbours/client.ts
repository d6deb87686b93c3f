// The neighbour: a client in a process of its own. Every 20 ms it asks for a product over REST, for one over GraphQL and for a
// show's analytics, and every 100 ms whether the server is ready. It does not wait for earlier answers, and counts how long an
// answer took from the moment at which it was due to ask: a server that stands still is seen in full.
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "../table.js";
import { setSessionPriority } from "./priority.js";
import type { Endpoint, Seen, NeighbourMessage, NeighbourTask } from "./neighbour.js";

const tickMs = 5;
/** An answer that takes longer is an error. */
const answerMs = 60_000;
/** Answers that are due when a window ends are waited for this long; then they are errors. */
const lastAnswersMs = 15_000;
/** Fewer than the backlog of a listening socket: more would wait for the system and not for the server. */
const socketsMax = 256;

interface Call {
  readonly name: string;
  readonly everyMs: number;
  readonly path: (number: number) => string;
  readonly body?: (number: number) => string;
}

interface Sample {
  readonly dueAt: number;
  waitMs?: number;
  problem?: string;
}

const task = JSON.parse(process.argv[2] ?? "{}") as NeighbourTask;
let { url } = task;
const agent = new Agent({ keepAlive: true, maxSockets: socketsMax, scheduling: "fifo" });
const headers = { "x-service-access-token": task.token, "content-type": "application/json" };
const productOf = (number: number) => task.products[number % task.products.length] ?? "";
const productQuery = "query ($id: String!) { product(productId: $id) { id sku title price images url } }";

const calls: readonly Call[] = [
  { name: "rest", everyMs: 20, path: (n) => `/external/product/v1/${productOf(n)}` },
  {
    name: "graphql",
    everyMs: 20,
    path: () => "/graphql",
    body: (n) => JSON.stringify({ query: productQuery, variables: { id: productOf(n) } }),
  },
  { name: "analytics", everyMs: 20, path: () => `/external/analytics/v1/live-streams/${task.show}` },
  { name: "readyz", everyMs: 100, path: () => "/readyz" },
];

setSessionPriority(-10); // another machine would have a processor of its own

let samples: Map<string, Sample[]> | undefined;
let lateMs = 0;
let isPaused = false;

/** Sends all that is due, and notes by how much this process itself is late. */
async function pace(call: Call): Promise<void> {
  let dueAt = performance.now();
  for (let number = 0; ; number += 1) {
    for (let now = performance.now(); now < dueAt; now = performance.now()) await sleep(Math.min(tickMs, dueAt - now));
    lateMs = Math.max(lateMs, performance.now() - dueAt);
    if (!isPaused) ask(call, number, dueAt);
    dueAt += call.everyMs;
  }
}

function ask({ name, path, body }: Call, number: number, dueAt: number): void {
  const sample: Sample = { dueAt };
  samples?.get(name)?.push(sample);
  const done = (problem?: string) => {
    sample.waitMs ??= performance.now() - dueAt;
    if (problem !== undefined) sample.problem ??= `${name}: ${problem}`;
  };
  const method = body === undefined ? "GET" : "POST";
  const call = request(`${url}${path(number)}`, { agent, method, headers }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => (text += part));
    response.once("error", (error) => done(String(error)));
    response.once("end", () => {
      const isGood = response.statusCode === 200 && !text.includes('"errors"');
      done(isGood ? undefined : `${response.statusCode} ${text.slice(0, 150)}`);
      clearTimeout(timer);
    });
  });
  const timer = setTimeout(() => call.destroy(new Error(`no answer in ${answerMs / 1_000} s`)), answerMs);
  call.once("error", (error) => {
    clearTimeout(timer);
    done(String(error));
  });
  call.end(body?.(number));
}

async function endWindow(): Promise<Seen> {
  const seen = samples ?? new Map<string, Sample[]>();
  samples = undefined;
  const client = lateMs;
  const all = [...seen.values()].flat();
  const end = performance.now() + lastAnswersMs;
  while (performance.now() < end && all.some(({ waitMs }) => waitMs === undefined)) await sleep(tickMs);
  for (const sample of all) {
    if (sample.waitMs !== undefined) continue;
    sample.waitMs = performance.now() - sample.dueAt;
    sample.problem = `no answer in ${Math.round(sample.waitMs)} ms`;
  }
  const endpoints = Object.fromEntries([...seen].map(([name, own]) => [name, summarize(own)]));
  const reads = [...seen].flatMap(([name, own]) => (name === "readyz" ? [] : own));
  return { ...endpoints, all: summarize(reads), clientLateMs: client } as Seen;
}

function summarize(own: readonly Sample[]): Endpoint {
  const waits = own.map(({ waitMs = NaN }) => waitMs);
  const problems = own.flatMap(({ problem }) => problem ?? []);
  return {
    requests: own.length,
    errors: problems.length,
    longestMs: waits.reduce((longest, wait) => Math.max(longest, wait), 0),
    p99Ms: percentile(waits, 0.99),
    firstError: problems[0],
  };
}

process.on("message", (message: NeighbourMessage) => {
  if (message.kind === "begin") {
    lateMs = 0;
    samples = new Map(calls.map(({ name }) => [name, []]));
  } else if (message.kind === "end") {
    void endWindow().then((seen) => process.send?.(seen));
  } else if (message.kind === "pause") isPaused = message.isPaused;
  else ({ url } = message);
});
process.once("disconnect", () => process.exit());
for (const call of calls) void pace(call);
