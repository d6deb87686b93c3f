import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { Redis } from "ioredis";
import type { Config } from "../../config.js";
import { type Check, failed, ok, warning } from "./check.js";
import { reasonOf } from "../terminal/reason.js";

const nodeMin = [20, 19] as const;
const freeBytesMin = 100_000_000;
const freeBytesEnough = 1_000_000_000;
const connectTimeoutMs = 3_000;
const clockSkewMaxMs = 2_000;
/** The clock of a machine that lost its battery shows a time before this program was written. */
const programWrittenAt = Date.parse("2026-11-01T00:00:00Z");

export function checkNode(version = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isRecent = major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1]);
  const detail = `Node.js ${version}`;
  return isRecent ? ok("node", detail) : failed("node", detail, `Install Node.js ${nodeMin.join(".")} or later.`);
}

/** @param database the time of the database's machine and of this one, asked at one moment */
export function checkClock(database: { readonly theirs: Date; readonly ours: Date } | undefined): Check {
  const advice = "Let a time service set the clocks: events and tokens are dated by them.";
  if (Date.now() < programWrittenAt) return failed("clock", `it is ${new Date().toISOString()} here`, advice);
  if (database === undefined) return ok("clock", new Date().toISOString());
  const skewMs = database.theirs.getTime() - database.ours.getTime();
  const detail = `the database's clock is ${Math.abs(skewMs)} ms ${skewMs < 0 ? "behind" : "ahead of"} this one`;
  return Math.abs(skewMs) <= clockSkewMaxMs ? ok("clock", detail) : warning("clock", detail, advice);
}

/** The disk of the embedded database; that of a PostgreSQL server cannot be seen from here. */
export async function checkDisk({ databaseUrl, dataDir }: Config): Promise<Check> {
  if (databaseUrl !== undefined) return ok("disk", "everything is kept by the PostgreSQL server");
  const folder = await nearestFolder(dataDir);
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    const detail = `${Math.round(free / 1_000_000).toLocaleString("en")} MB are free for ${dataDir}`;
    const advice = "Free some space, or set DATA_DIR to a folder on another disk.";
    if (free < freeBytesMin) return failed("disk", detail, advice);
    return free < freeBytesEnough ? warning("disk", detail, advice) : ok("disk", detail);
  } catch (error) {
    return failed("disk", reasonOf(error), `Make ${folder} writable for this user, or set DATA_DIR.`);
  }
}

/** The folder, or the one above it in which it would be made. */
async function nearestFolder(folder: string): Promise<string> {
  try {
    await access(folder);
    return folder;
  } catch {
    return dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
  }
}

export async function checkRedis({ redisUrl, webConcurrency }: Config): Promise<Check> {
  if (redisUrl === undefined) {
    const processes = webConcurrency > 1 ? "the workers of one server" : "one server";
    return ok("redis", `REDIS_URL is not set: rate limits and live updates are those of ${processes}`);
  }
  const redis = new Redis(redisUrl, {
    lazyConnect: true,
    connectTimeout: connectTimeoutMs,
    commandTimeout: connectTimeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let problem: unknown;
  redis.on("error", (error) => (problem = error)); // connect() itself only says that the connection is closed
  try {
    await redis.connect();
    const version = /redis_version:(\S+)/u.exec(await redis.info("server"))?.[1] ?? "of unknown version";
    return ok("redis", `Redis ${version} answers`);
  } catch (error) {
    return failed(
      "redis",
      reasonOf(problem ?? error),
      "Start Redis, or correct REDIS_URL. Until then each server process limits by itself.",
    );
  } finally {
    redis.disconnect();
  }
}

/** Whether a server could listen here; one that runs already is no problem. */
export async function checkPort({ host, port }: Config): Promise<Check> {
  if (port === 0) return ok("port", "any free one is taken");
  const problem = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
  if (problem === undefined) return ok("port", `${port} is free on ${host}`);
  return problem.code === "EADDRINUSE"
    ? warning("port", `${port} is in use on ${host}`, "If that is not Vitrine already running, set PORT to another.")
    : failed("port", reasonOf(problem), "Correct HOST and PORT.");
}
