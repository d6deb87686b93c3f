import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Redis } from "ioredis";
import { openRedis } from "../redis.js";
import type { CallCount, Policy, Reservation } from "./rateLimit.js";
import { createOwnCount } from "./rateLimit.memory.js";

/** How long a call waits for its count: a Redis that hangs is the same as one that is gone. */
const replyTimeoutMs = 500;
/** When the connection gives up what no call waits for any longer. */
const commandTimeoutMs = 5_000;
/** How long a Redis that failed is left alone, so that not every call waits for it. */
const restMs = 1_000;
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
 * The count that all processes on one Redis share. While Redis is gone, hangs or answers nonsense, this process goes
 * by its own count, which holds what it was granted from Redis in the same window; `warn` is told, once until Redis
 * is back.
 */
export async function openSharedCount(url: string, warn: (problem: Error) => void): Promise<CallCount> {
  const own = createOwnCount();
  const health = watchHealth(warn);
  const redis = openRedis(url, health.failed, commandTimeoutMs);
  const reserveCall = defineReserveCall(redis);
  redis.on("ready", health.answered);
  await firstConnection(redis).catch(health.failed);

  return {
    async reserve(policy, storeId) {
      if (!health.isWorthATry()) return own.reserve(policy, storeId);
      try {
        const reply = await inTime(reserveCall(keyOf(policy, storeId), policy.callsMax, policy.windowMs));
        const reservation = readReply(reply, policy);
        health.answered();
        if (reservation.isGranted) own.note(policy, storeId, reservation.resetMs);
        return reservation;
      } catch (problem) {
        health.failed(problem);
        return own.reserve(policy, storeId);
      }
    },
    close() {
      redis.disconnect();
      own.close();
    },
  };
}

/** Whether Redis works, as far as calls have shown. */
function watchHealth(warn: (problem: Error) => void) {
  let isDown = false;
  let restsUntil = 0;
  return {
    /** While Redis is down, one call after each rest: the others need not wait with it. */
    isWorthATry(): boolean {
      if (!isDown) return true;
      if (performance.now() < restsUntil) return false;
      restsUntil = performance.now() + restMs;
      return true;
    },
    answered: (): void => {
      isDown = false;
    },
    failed: (problem: unknown): void => {
      restsUntil = performance.now() + restMs;
      if (isDown) return;
      isDown = true;
      warn(problem instanceof Error ? problem : new Error(String(problem)));
    },
  };
}

async function firstConnection(redis: Redis): Promise<void> {
  const signal = AbortSignal.timeout(firstConnectionMs);
  await once(redis, "ready", { signal }).catch((problem: unknown) => {
    throw signal.aborted ? new Error("Redis does not answer.") : problem;
  });
}

/**
 * Gives up on a reply that takes too long. Timers come first when the process was busy or starved for that long: replies
 * that arrived meanwhile are read before it gives up, or the count would part from Redis for no fault of Redis.
 */
function inTime(reply: Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error("Redis does not answer."));
    const timer = setTimeout(() => setImmediate(giveUp), replyTimeoutMs);
    reply.then(resolve, reject).finally(() => clearTimeout(timer));
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
