import { Redis } from "ioredis";
import { watchHealth } from "./outage.js";

/** How long a command may take: a Redis that hangs is the same as one that is gone. */
const commandTimeoutMs = 500;
const connectTimeoutMs = 2_000;
const reconnectDelayMaxMs = 2_000;
/** How long what was sent last may take to go out when a connection is closed. */
const disconnectTimeoutMs = 500;
const pingIntervalMs = 5_000;
/** So many pings without an answer, and the connection counts as lost. */
const unansweredMax = 2;

interface RedisOptions {
  readonly commandTimeoutMs?: number;
  readonly pingIntervalMs?: number;
}

/**
 * A connection to Redis that never makes its users wait: commands fail at once while it is down, and it reconnects by
 * itself. `log` is told when it goes down, once until it is back.
 */
export function openRedis(url: string, log: (problem: Error) => void, options: RedisOptions = {}): Redis {
  const redis = new Redis(url, {
    commandTimeout: options.commandTimeoutMs ?? commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    disconnectTimeout: disconnectTimeoutMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 100, reconnectDelayMaxMs),
  });
  const health = watchHealth(log);
  redis.on("ready", health.answered);
  redis.on("error", health.failed);
  keepAlive(redis, options.pingIntervalMs ?? pingIntervalMs, health.failed);
  return redis;
}

/**
 * Gives up a connection on which nothing comes back, as after a failover or behind a firewall that forgot it. One that
 * only listens would wait on it for ever, and the system's own look at idle connections takes hours.
 */
function keepAlive(redis: Redis, intervalMs: number, failed: (problem: Error) => void): void {
  let unanswered = 0;
  const giveUp = () => {
    failed(new Error("Redis does not answer."));
    redis.disconnect(true);
  };
  const timer = setInterval(() => {
    if (redis.status !== "ready") return;
    redis.ping().then(
      () => (unanswered = 0),
      () => {
        unanswered += 1;
        if (unanswered === unansweredMax && redis.status === "ready") giveUp();
      },
    );
  }, intervalMs);
  timer.unref();
  redis.on("ready", () => (unanswered = 0));
  redis.once("end", () => clearInterval(timer));
}
