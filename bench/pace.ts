// Clients in a process of their own, which send requests at a steady pace and do not wait for earlier answers.
// Each message from the parent is a task; the answer to it is what was seen.
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import type { Request } from "autocannon";
import { closeLater } from "./resources.js";

interface PaceTask {
  readonly url: string;
  readonly perSecond: number;
  /** The status of every answer. */
  readonly status: number;
  readonly requests: readonly Request[];
}

interface PaceReport {
  readonly failed: number;
  readonly firstFailure: string | undefined;
  /** From when each request was due until its answer was complete. */
  readonly latenciesMs: readonly number[];
}

/**
 * Starts the clients.
 *
 * @returns a function that sends requests and returns their latencies in milliseconds, and one that ends the clients
 */
export function startPace(): {
  readonly send: (task: PaceTask) => Promise<readonly number[]>;
  readonly stop: () => Promise<void>;
} {
  const clients = fork(fileURLToPath(import.meta.url), ["clients"], { execArgv: ["--import", "tsx"] });
  const stop = closeLater(async () => {
    if (clients.connected) clients.disconnect();
  });
  const send = async (task: PaceTask) => {
    clients.send(task);
    const [report] = (await once(clients, "message")) as [PaceReport];
    if (report.failed > 0) throw new Error(`${report.failed} requests failed: ${report.firstFailure}`);
    return report.latenciesMs;
  };
  return { send, stop };
}

const agent = new Agent({ keepAlive: true, maxSockets: 256, scheduling: "fifo" });

if (process.argv[2] === "clients") {
  process.on("message", (task: PaceTask) => {
    void run(task).then((report) => process.send?.(report));
  });
  process.once("disconnect", () => process.exit());
}

async function run({ url, perSecond, status, requests }: PaceTask): Promise<PaceReport> {
  const latenciesMs: number[] = [];
  const failures: string[] = [];
  const start = performance.now();
  const answers = new Array<Promise<void>>();
  while (answers.length < requests.length) {
    const due = Math.min(requests.length, Math.ceil(((performance.now() - start) * perSecond) / 1_000));
    for (const next of requests.slice(answers.length, due)) {
      const dueAt = start + (answers.length * 1_000) / perSecond;
      const answered = sendOne(url, status, next).then(
        () => void latenciesMs.push(performance.now() - dueAt),
        (error: unknown) => void failures.push(String(error)),
      );
      answers.push(answered);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(answers);
  return { failed: failures.length, firstFailure: failures[0], latenciesMs };
}

function sendOne(url: string, status: number, { path, headers, body }: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    const all = { ...headers, "content-length": Buffer.byteLength(body ?? "") };
    const sent = request(`${url}${path}`, { method: "POST", agent, headers: all, timeout: 60_000 }, (response) => {
      if (response.statusCode !== status) reject(new Error(`status ${response.statusCode}`));
      response.resume();
      response.once("end", resolve);
    });
    sent.once("error", reject);
    sent.once("timeout", () => sent.destroy(new Error("no answer")));
    sent.end(body);
  });
}
