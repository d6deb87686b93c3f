import type { Logger } from "pino";
import { type Lifecycle, withLifecycle, banner, hasNoStore } from "./lifecycle.js";
import { openLog } from "./run.js";
import { createLocalCounter } from "../../stores/rateLimits/rateLimit.memory.js";
import { countForWorker } from "../../server/cluster/primaryCounter.js";
import type { Config } from "../../config.js";
import { openDatabase } from "../../database/open.js";
import { MetricsCollector } from "../../server/cluster/sharedMetrics.js";
import { onlyOnce, warnForWorker } from "../../server/cluster/channel.js";
import { migrateIfNeeded, warn } from "../runtime.js";
import { WorkerPool } from "../../server/cluster/workerPool.js";
import { untilSignal } from "./signals.js";

/** After the grace period, a worker has this long to close what is left. */
const cutMs = 3_000;

/**
 * Serves with several processes on one port until a signal stops them. This process, the primary, distributes connections
 * and, without Redis, counts calls for the rate limits.
 *
 * @throws the error of a worker that could not start
 */
export function serveByWorkers(config: Config): Promise<void> {
  const log = openLog(config);
  return withLifecycle(log, config, (lifecycle) => run(config, log, lifecycle));
}

async function run(config: Config, log: Logger, lifecycle: Lifecycle): Promise<void> {
  const isEmpty = await migrateBefore(config);
  const count = createLocalCounter();
  const metrics = new MetricsCollector();
  const warnOnce = onlyOnce((text) => log.warn(text));
  const pool = new WorkerPool(log, (channel, ended) => {
    metrics.onSpawn(channel, ended);
    countForWorker(channel, count);
    warnForWorker(channel, warnOnce);
  });
  process.once("exit", () => pool.kill()); // for a signal before it serves, or a second one
  const url = await pool.start(config.webConcurrency);
  process.stdout.write(banner(url, config, { isEmpty }));
  lifecycle.serves(url);
  lifecycle.stops(await untilSignal());
  await pool.stop(config.shutdownGraceMs + cutMs);
}

/** @returns whether there is no store yet */
async function migrateBefore(config: Config): Promise<boolean> {
  const database = await openDatabase(config, "exclusive", warn);
  try {
    await migrateIfNeeded(database, config, warn);
    return await hasNoStore(database);
  } finally {
    await database.close();
  }
}
