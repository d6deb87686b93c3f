import { Redis } from "ioredis";
import { reasonOf } from "../terminal/failure.js";
import { type Check, failed, ok } from "./doctorCheck.js";

const timeoutMs = 3_000;

/** Whether Redis answers. */
export async function checkRedisAt(url: string): Promise<Check> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let problem: unknown;
  redis.on("error", (error) => (problem = error)); // connect() itself only reports a closed connection
  try {
    await redis.connect();
    const version = /redis_version:(\S+)/u.exec(await redis.info("server"))?.[1] ?? "of unknown version";
    return ok("redis", `Redis ${version} answers`);
  } catch (error) {
    return failed(
      "redis",
      reasonOf(problem ?? error),
      "Start Redis, or correct REDIS_URL. Until then, each server process counts calls separately.",
    );
  } finally {
    redis.disconnect();
  }
}
