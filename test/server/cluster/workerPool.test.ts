import cluster, { type Worker } from "node:cluster";
import { EventEmitter } from "node:events";
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { WorkerPool } from "../../../src/server/cluster/workerPool.js";
import { stopClock } from "../../support/clock.js";
import { until } from "../../support/until.js";

test("a worker that fails again and again is replaced ever later, until one has run for 30 seconds", async () => {
  const workers: EventEmitter[] = [];
  vi.spyOn(cluster, "fork").mockImplementation(() => {
    const worker = Object.assign(new EventEmitter(), { process: { kill: () => true } });
    workers.push(worker);
    return worker as unknown as Worker;
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const clock = stopClock();
  const delays: number[] = [];
  const log = pino({}, { write: (line) => void delays.push(JSON.parse(line).delayMs) });
  const pool = new WorkerPool(log, () => undefined);
  const started = pool.start(1);
  workers[0]?.emit("message", ["serves", "http://127.0.0.1:4000"]);
  await started;
  for (const [index, livesMs] of [0, 29_999, 30_001, 0].entries()) {
    await until(() => workers.length > index, "the next worker");
    clock.pass(livesMs);
    workers[index]?.emit("exit", 1, null);
  }
  await until(() => delays.length === 4, "its end to be logged");
  expect(delays).toEqual([100, 200, 0, 100]);
  pool.kill();
});
