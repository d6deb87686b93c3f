// @tier all
import { execFile } from "node:child_process";
import { get } from "node:http";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lintMetrics } from "../../support/process/promtool.js";
import { createMigratedDatabase, type OwnDatabase } from "../../support/database/ownDatabase.js";
import { serve, type Serving } from "../../support/process.js";
import { needed } from "../../support/run/programs.js";
import { until } from "../../support/until.js";

describe("/metrics with WEB_CONCURRENCY=2", () => {
  let own: OwnDatabase;
  let server: Serving;
  beforeAll(async () => {
    own = await createMigratedDatabase("worker_metrics");
    server = await serve({ DATABASE_URL: own.url, DATABASE_POOL_MAX: "2", WEB_CONCURRENCY: "2" });
  });
  afterAll(async () => {
    server.process.kill("SIGKILL");
    await own.drop();
  });

  test("promtool accepts the sum of the workers' metrics, which counts one build", async () => {
    await Promise.all(Array.from({ length: 6 }, () => call(server, "/nowhere")));
    expect(await lintMetrics(needed("TEST_PROMTOOL"), server.url)).toBe("");
    const builds = Object.entries(await figures(server)).filter(([series]) => series.startsWith("vitrine_build_info"));
    expect(builds).toEqual([[expect.stringContaining('engine="postgresql"'), 1]]);
  });

  test("every worker reports all processes, counts those that do not reply, and keeps the counters of workers that ended", async () => {
    let asked = (await figures(server))[nowhere] ?? 0;
    const ask = async (times: number) => {
      asked += times;
      await Promise.all(Array.from({ length: times }, () => call(server, "/nowhere")));
    };
    await ask(10);
    for (let n = 0; n < 4; n += 1) await untilCounted(server, asked); // connections are handed out in turn
    expect(await figures(server)).toMatchObject({ vitrine_workers: 2, vitrine_workers_silent: 0 });

    const [first = 0, second = 0] = await pidsOf(server);
    process.kill(first, "SIGSTOP");
    try {
      // What the stopped one is given waits until it goes on: of two calls at a time, the other's is answered.
      const found = await Promise.any([figures(server), figures(server)]);
      expect(found).toMatchObject({ vitrine_workers: 2, vitrine_workers_silent: 1, [nowhere]: asked });
    } finally {
      process.kill(first, "SIGCONT");
    }
    await untilCounted(server, asked);

    process.kill(first, "SIGTERM"); // it tells its last figures
    await untilReplaced(server, first);
    await ask(4);
    await untilCounted(server, asked);
    process.kill(second, "SIGKILL"); // it does not, but was asked since it last counted
    await untilReplaced(server, second);
    await ask(4);
    await untilCounted(server, asked);
    expect(await figures(server)).toMatchObject({ vitrine_workers: 2, vitrine_workers_silent: 0 });
  });
});

const nowhere = 'vitrine_http_request_duration_seconds_count{method="GET",route="other",status="4xx"}';

async function figures(server: Serving): Promise<Record<string, number>> {
  const lines = (await call(server, "/metrics")).split("\n").filter((line) => line.startsWith("vitrine_"));
  return Object.fromEntries(lines.map((line) => line.split(/ (?=\S+$)/u)).map(([key, value]) => [key, Number(value)]));
}

async function untilCounted(server: Serving, count: number): Promise<void> {
  await until(async () => (await figures(server))[nowhere] === count, `${count} requests to be counted`);
}

async function untilReplaced(server: Serving, pid: number): Promise<void> {
  const isReplaced = async () => {
    const pids = await pidsOf(server);
    return pids.length === 2 && !pids.includes(pid) && (await figures(server))["vitrine_workers"] === 2;
  };
  await until(isReplaced, "another worker");
}

/** On a connection of its own, which no other call uses. Gives the body of the answer. */
async function call({ url }: Serving, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const calling = get(url + path, { agent: false }, (response) => void text(response).then(resolve, reject));
    calling.once("error", reject);
  });
}

async function pidsOf({ pid }: Serving): Promise<number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "pid=", "--ppid", String(pid)]);
  return stdout.trim().split(/\s+/u).map(Number);
}
