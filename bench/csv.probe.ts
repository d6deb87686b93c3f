// A client in a process of its own: every 5 ms it asks the server (first argument) for /healthz and for a product (second
// argument: its path; third: the token), on connections that are kept alive, and does not wait for earlier answers.
// To any message from its parent it answers what was seen since the last one, once all answers are there.
import { Agent, get } from "node:http";
import { percentile } from "./table.js";

/** How long requests waited for their answer. */
export interface ProbeReport {
  readonly requests: number;
  readonly longestMs: number;
  readonly p99Ms: number;
}

const everyMs = 5;
const [url, productPath, token] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const waits: number[] = [];
let running = new Set<Promise<void>>();

function ask(path: string): Promise<void> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { "x-service-access-token": token };
    const request = get(`${url}${path}`, { agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path}: status ${response.statusCode}`));
      response.resume();
      response.once("end", () => {
        waits.push(performance.now() - start);
        resolve();
      });
    });
    request.once("error", reject);
  });
}

function probe(): void {
  for (const path of ["/healthz", String(productPath)]) {
    const answered = ask(path);
    running.add(answered);
    void answered.then(() => running.delete(answered));
  }
}

async function report(): Promise<void> {
  const earlier = running;
  running = new Set();
  await Promise.all(earlier);
  const seen = waits.splice(0);
  process.send?.({ requests: seen.length, longestMs: Math.max(...seen), p99Ms: percentile(seen, 0.99) });
}

setInterval(probe, everyMs);
process.on("message", () => void report());
process.once("disconnect", () => process.exit());
