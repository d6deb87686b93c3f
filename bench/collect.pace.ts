// Pages in a process of their own, which send reports to /collect/v1 at a steady pace and do not wait for earlier answers.
// Each message from the parent is a task; the answer to it is what was seen.
import { Agent, request } from "node:http";
import { makeReport, pageHeaders } from "./collect.pages.js";

export interface PaceTask {
  readonly url: string;
  readonly key: string;
  readonly perSecond: number;
  readonly seconds: number;
}

export interface PaceReport {
  readonly failed: number;
  readonly firstFailure: string | undefined;
  readonly events: number;
  /** From when each request was due until its answer was complete. */
  readonly latenciesMs: readonly number[];
}

const agent = new Agent({ keepAlive: true, maxSockets: 256, scheduling: "fifo" });

process.on("message", (task: PaceTask) => {
  void run(task).then((report) => process.send?.(report));
});
process.once("disconnect", () => process.exit());

async function run({ url, key, perSecond, seconds }: PaceTask): Promise<PaceReport> {
  const total = perSecond * seconds;
  const reports = Array.from({ length: total }, (_, index) => makeReport(index));
  const bodies = reports.map(({ show, events }) => JSON.stringify({ key, show, events }));
  const latenciesMs: number[] = [];
  const failures: string[] = [];
  const start = performance.now();
  const answers = new Array<Promise<void>>();
  while (answers.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - start) * perSecond) / 1_000));
    for (let index = answers.length; index < due; index += 1) {
      const dueAt = start + (index * 1_000) / perSecond;
      const answered = send(url, bodies[index] ?? "", index).then(
        () => void latenciesMs.push(performance.now() - dueAt),
        (error: unknown) => void failures.push(String(error)),
      );
      answers.push(answered);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(answers);
  const events = reports.reduce((sum, report) => sum + report.events.length, 0);
  return { failed: failures.length, firstFailure: failures[0], events, latenciesMs };
}

function send(url: string, body: string, index: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { ...pageHeaders(index), "content-length": Buffer.byteLength(body) };
    const sent = request(`${url}/collect/v1`, { method: "POST", agent, headers, timeout: 60_000 }, (response) => {
      if (response.statusCode !== 202) reject(new Error(`status ${response.statusCode}`));
      response.resume();
      response.once("end", resolve);
    });
    sent.once("error", reject);
    sent.once("timeout", () => sent.destroy(new Error("no answer")));
    sent.end(body);
  });
}
