import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Redis } from "ioredis";
import { createCircuitBreaker } from "../../lib/circuitBreaker.js";
import type { CallCounter, Policy, Reservation } from "../../schema/limits/policies.js";
import { withLocalFallback } from "./rateLimit.memory.js";

const replyTimeoutMs = 500;
/** Ends commands that no call waits for any longer. */
const commandTimeoutMs = 5_000;
const firstConnectionMs = 1_000;

/** Atomic. A value that is not a count starts a new window; a missing or too long expiry is reset. */
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

/** Shared by all processes, with a local fallback. @param warn called once for each outage */
export async function openRedisCounter(url: string, warn: (problem: Error) => void): Promise<CallCounter> {
  const breaker = createCircuitBreaker(warn);
  const { openRedis } = await import("../../lib/redis.js"); // imported only here, because the library slows down starts without Redis
  const redis = openRedis(url, breaker.failed, { commandTimeoutMs });
  const reserveCall = defineReserveCall(redis);
  redis.on("ready", breaker.answered);
  await firstConnection(redis).catch(breaker.failed);

  const reserveRemotely = async (policy: Policy, storeId: string) =>
    readReply(await reserveCall(keyOf(policy, storeId), policy.callsMax, policy.windowMs), policy);
  const count = withLocalFallback({ name: "Redis", breaker, replyTimeoutMs, reserveRemotely });
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
  const { reserveCall } = redis as Redis & { reserveCall: ReserveCall }; // added by defineCommand
  return reserveCall.bind(redis);
}

function readReply(reply: unknown, policy: Policy): Reservation {
  if (!Array.isArray(reply) || reply.length !== 3 || !reply.every(Number.isSafeInteger)) {
    throw new Error("Redis returned an invalid count.");
  }
  const [granted, calls, resetMs] = reply as [number, number, number];
  return { policy, isGranted: granted === 1, callsLeft: Math.max(0, policy.callsMax - calls), resetMs };
}

/** Hashed, because operators of Redis see the keys. */
function keyOf({ name }: Policy, storeId: string): string {
  return `vitrine:rate:${createHash("sha256").update(`${name}\0${storeId}`).digest("base64url")}`;
}
