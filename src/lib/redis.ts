import { Redis } from "ioredis";
import { createCircuitBreaker } from "./circuitBreaker.js";

/** A Redis that hangs is treated like one that is down. */
const commandTimeoutMs = 500;
const connectTimeoutMs = 2_000;
const reconnectDelayMaxMs = 2_000;
/** How long closing a connection waits for commands that are still being sent. */
const disconnectTimeoutMs = 500;
const pingIntervalMs = 5_000;
/** Unanswered pings after which the connection counts as lost. */
const unansweredMax = 2;

interface RedisOptions {
  readonly commandTimeoutMs?: number;
  readonly pingIntervalMs?: number;
}

/** During an outage commands fail immediately, and `log` is called once. */
export function openRedis(url: string, log: (problem: Error) => void, options: RedisOptions = {}): Redis {
  const redis = new Redis(url, {
    commandTimeout: options.commandTimeoutMs ?? commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    disconnectTimeout: disconnectTimeoutMs,
    autoResubscribe: false, // its rejection would not be handled, which ends the process
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 100, reconnectDelayMaxMs),
  });
  const breaker = createCircuitBreaker(log);
  redis.on("ready", breaker.answered);
  redis.on("error", breaker.failed);
  keepAlive(redis, options.pingIntervalMs ?? pingIntervalMs, breaker.failed);
  return redis;
}

/**
 * Drops a half-open connection, as after a failover. A subscriber would wait on it for hours, until TCP keepalive
 * notices.
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
