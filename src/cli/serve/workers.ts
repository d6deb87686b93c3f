import { openLog } from "./log.js";
import { createLocalCounter } from "../../access/rateLimit.memory.js";
import { countForWorker } from "../../access/rateLimit.primary.js";
import { relayForWorker } from "../../analytics/feed/feed.primary.js";
import type { Config } from "../../config.js";
import { openDatabase } from "../../database/open.js";
import { createScrapes } from "../../telemetry/scrape.primary.js";
import { migrateIfNeeded, warn } from "../runtime.js";
import { banner } from "./common.js";
import { createWorkerPool } from "./workerPool.js";
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
  const count = createLocalCounter();
  const scrapes = createScrapes();
  const pool = createWorkerPool(openLog(config), (channel, ended) => {
    scrapes.onSpawn(channel, ended);
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
  const database = await openDatabase(config, "exclusive", warn);
  try {
    await migrateIfNeeded(database, config, warn);
  } finally {
    await database.close();
  }
}
