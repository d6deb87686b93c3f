import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Redis } from "ioredis";
import { watchHealth } from "../lib/outage.js";
import { openRedis } from "../lib/redis.js";
import type { CallCount, Policy, Reservation } from "./rateLimit.js";
import { withLocalFallback } from "./rateLimit.fallback.js";

const replyTimeoutMs = 500;
/** When the connection gives up what no call waits for any longer. */
const commandTimeoutMs = 5_000;
/** How long the first calls may have to wait for the first connection. */
const firstConnectionMs = 1_000;

/**
 * Looks and counts in one step. Whatever the key holds that is not a count of calls is none. The count and its expiry
 * are set together; a key without an expiry, or with one beyond the window, gets the window's.
 */
const reserveScript = `
local callsMax, windowMs = tonumber(ARGV[1]), tonumber(ARGV[2])
local value = redis.pcall('GET', KEYS[1])
if type(value) ~= 'string' or #value > 10 or not string.match(value, '^[1-9]%d*$') then
  redis.call('SET', KEYS[1], 1, 'PX', windowMs)
  return {1, 1, windowMs}
end
local resetMs = redis.call('PTTL', KEYS[1])
if resetMs < 0 or resetMs > windowMs then
  redis.call('PEXPIRE', KEYS[1], windowMs)
  resetMs = windowMs
end
if tonumber(value) >= callsMax then return {0, tonumber(value), resetMs} end
return {1, redis.call('INCR', KEYS[1]), resetMs}
`;

type ReserveCall = (key: string, callsMax: number, windowMs: number) => Promise<unknown>;

/**
 * The count that all processes on one Redis share. While Redis is gone, hangs or answers nonsense, this process counts by
 * itself; `warn` is told, once until Redis is back.
 */
export async function openSharedCount(url: string, warn: (problem: Error) => void): Promise<CallCount> {
  const health = watchHealth(warn);
  const redis = openRedis(url, health.failed, { commandTimeoutMs });
  const reserveCall = defineReserveCall(redis);
  redis.on("ready", health.answered);
  await firstConnection(redis).catch(health.failed);

  const ask = async (policy: Policy, storeId: string) =>
    readReply(await reserveCall(keyOf(policy, storeId), policy.callsMax, policy.windowMs), policy);
  const count = withLocalFallback({ name: "Redis", health, replyTimeoutMs, ask });
  return {
    ...count,
    close() {
      redis.disconnect();
      count.close();
    },
  };
}

async function firstConnection(redis: Redis): Promise<void> {
  const signal = AbortSignal.timeout(firstConnectionMs);
  await once(redis, "ready", { signal }).catch((problem: unknown) => {
    throw signal.aborted ? new Error("Redis does not answer.") : problem;
  });
}

function defineReserveCall(redis: Redis): ReserveCall {
  redis.defineCommand("reserveCall", { numberOfKeys: 1, lua: reserveScript });
  const { reserveCall } = redis as Redis & { reserveCall: ReserveCall }; // defineCommand has just put it there
  return reserveCall.bind(redis);
}

function readReply(reply: unknown, policy: Policy): Reservation {
  if (!Array.isArray(reply) || reply.length !== 3 || !reply.every(Number.isSafeInteger)) {
    throw new Error("Redis answered with something that is no count.");
  }
  const [granted, calls, resetMs] = reply as [number, number, number]; // as was just checked
  return { policy, isGranted: granted === 1, callsLeft: Math.max(0, policy.callsMax - calls), resetMs };
}

/** Hashed: an id may hold anything, and keys are seen by whoever looks after the Redis. */
function keyOf({ name }: Policy, storeId: string): string {
  return `vitrine:rate:${createHash("sha256").update(`${name}\0${storeId}`).digest("base64url")}`;
}
