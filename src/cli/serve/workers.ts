import { openLog } from "./log.js";
import { createOwnCount } from "../../access/rateLimit.memory.js";
import { countForWorker } from "../../cluster/rateLimit.js";
import { relayForWorker } from "../../cluster/feed.js";
import type { Config } from "../../config.js";
import { openDatabase } from "../../database/open.js";
import { createMetricsCollector } from "../../cluster/metrics.js";
import { migrateIfNeeded, warn } from "../runtime.js";
import { banner } from "./common.js";
import { createWorkerPool } from "../../cluster/workerPool.js";
import { untilSignal } from "./signals.js";

/** How long a worker may take, after the grace, to cut what is left. */
const cutMs = 3_000;

/**
 * Serves by several processes on one port until told to stop. This process, the primary, hands out the connections and
 * holds what the workers share where there is no Redis.
 *
 * @throws what a worker threw that could not start
 */
export async function serveByWorkers(config: Config): Promise<void> {
  await migrateBefore(config);
  const count = createOwnCount();
  const metrics = createMetricsCollector();
  const pool = createWorkerPool(openLog(config), (channel, ended) => {
    metrics.onSpawn(channel, ended);
    countForWorker(channel, count);
    relayForWorker(channel, pool.channels);
  });
  process.once("exit", pool.kill); // told to stop early or a second time
  const url = await pool.start(config.webConcurrency);
  process.stdout.write(banner(url, config));
  await untilSignal();
  await pool.stop(config.shutdownGraceMs + cutMs);
}

/** Once for all workers, on a connection that is then closed. */
async function migrateBefore(config: Config): Promise<void> {
  const database = await openDatabase(config, "alone", warn);
  try {
    await migrateIfNeeded(database, config, warn);
  } finally {
    await database.close();
  }
}
