import { Redis } from "ioredis";

/** How long a command may take: a Redis that hangs is the same as one that is gone. */
const commandTimeoutMs = 500;
const connectTimeoutMs = 2_000;
const reconnectDelayMaxMs = 2_000;

/**
 * A connection to Redis that never makes its users wait: commands fail at once while it is down, and it reconnects by
 * itself. `log` is told when it goes down, once until it is back.
 */
export function openRedis(url: string, log: (problem: Error) => void, commandTimeout = commandTimeoutMs): Redis {
  const redis = new Redis(url, {
    commandTimeout,
    connectTimeout: connectTimeoutMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 100, reconnectDelayMaxMs),
  });
  let isDown = false;
  redis.on("ready", () => {
    isDown = false;
  });
  redis.on("error", (problem: Error) => {
    if (!isDown) log(problem);
    isDown = true;
  });
  return redis;
}
