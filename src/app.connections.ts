// What the service connects to, besides its database.
import type { Logger } from "pino";
import { policiesOf, type RateLimits } from "./access/rateLimits/rateLimit.js";
import { createLocalCounter } from "./access/rateLimits/rateLimit.memory.js";
import { openRedisCounter } from "./access/rateLimits/rateLimit.redis.js";
import { createLiveFeed, type LiveFeed } from "./analytics/feed/feed.js";
import { createDatabaseRelay } from "./analytics/feed/feed.database.js";
import { type FeedRelay, openRedisRelay } from "./analytics/feed/feed.relay.js";
import { readAnalytics } from "./analytics/kpis/kpis.read.js";
import type { Channel } from "./cluster/channel.js";
import { createPrimaryCounter } from "./cluster/primaryCounter.js";
import type { Config } from "./config.js";
import { type Fault, mapDatabaseError, serverMessageOf, sqlStateOf } from "./database/errors.js";
import type { OpenDatabase } from "./database/open.js";
import { forStore } from "./database/shares/forStore.js";
import { watchFaults } from "./database/faults/watchFaults.js";
import type { Tracing } from "./telemetry/tracing.js";

/** Without a collector, OpenTelemetry is not loaded. */
export async function openTracing(config: Config, { probe }: OpenDatabase, log: Logger): Promise<Tracing | undefined> {
  const { otlpEndpoint: endpoint, otelServiceName: serviceName } = config;
  if (endpoint === undefined) return undefined;
  const { createTracing } = await import("./telemetry/tracing.js");
  const tracing = createTracing({ endpoint, serviceName }, (problem) =>
    log.warn({ err: problem.message }, "The trace collector is unavailable; traces are dropped until it recovers"),
  );
  probe.aroundQuery = tracing.aroundQuery;
  return tracing;
}

const faultLines: Readonly<Record<Fault, string>> = {
  "read-only": "The database is read-only",
  "disk full": "The disk of the database is full",
  damaged: "The files of the database are damaged",
  "login refused": "The database refuses the login",
  "database missing": "The database does not exist",
  "privileges missing": "The database refuses what needs a privilege",
  "not migrated": "The database has no such table, or the role may not use its schema",
};

/** Logs a fault of the database once until it is over, not for each request that meets it. */
export function logFaults(database: OpenDatabase, log: Logger): { stop(): void } {
  return watchFaults(database, {
    failed: (fault, error) =>
      log.error(
        { fault, sqlState: sqlStateOf(error), err: serverMessageOf(error) },
        `${faultLines[fault]}; requests get 503 until it recovers. npx vitrine doctor says what to do`,
      ),
    recovered: (fault) => log.info({ fault }, "The database has recovered"),
  });
}

/** Counts in Redis or else in the primary, where calls are limited. */
export async function openRateLimits(config: Config, log: Logger, primary: Channel | undefined): Promise<RateLimits> {
  const policies = policiesOf(config);
  if (Object.keys(policies).length === 0) return { policies, count: createLocalCounter() };
  const warn = (who: string) => (problem: Error) =>
    log.warn({ err: problem.message }, `${who} is unavailable; this process counts calls on its own until it recovers`);
  if (config.redisUrl !== undefined) {
    return { policies, count: await openRedisCounter(config.redisUrl, warn("Redis")) };
  }
  return {
    policies,
    count: primary === undefined ? createLocalCounter() : createPrimaryCounter(primary, warn("The primary process")),
  };
}

/** The live feed. It reaches clients of other processes through Redis, or else through the database. */
export async function openFeed(config: Config, database: OpenDatabase, log: Logger): Promise<LiveFeed> {
  const read = (storeId: string, lsId: string) =>
    readAnalytics(forStore(database.client, storeId), storeId, lsId).catch((error: unknown) =>
      Promise.reject(mapDatabaseError(error) as Error),
    );
  return createLiveFeed({ read, relay: await openFeedRelay(config, database, log) });
}

async function openFeedRelay(config: Config, database: OpenDatabase, log: Logger): Promise<FeedRelay> {
  const warn = (what: string) => (problem: Error) =>
    log.warn({ err: problem.message }, `${what}; live figures reach clients of one process only until it recovers`);
  const { redisUrl } = config;
  if (redisUrl !== undefined) return openRedisRelay(redisUrl, warn("Redis is unavailable"));
  return createDatabaseRelay(database, config, warn("LISTEN/NOTIFY is unavailable"));
}
