import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import type { Config } from "../../config.js";
import { freeBytes } from "../../lib/disk.js";
import { type Check, failed, ok, warning } from "./doctorCheck.js";
import { reasonOf } from "../terminal/failure.js";
import { get, type IncomingMessage } from "node:http";
import { proxyAddresses, untrustedProxies } from "../../server/telemetry/proxyMetricNames.js";

const nodeMin = [20, 19] as const;
const freeBytesMin = 100_000_000;
const freeBytesEnough = 1_000_000_000;
const clockSkewMaxMs = 2_000;
/** An earlier time is wrong, for example because the clock's battery is empty. */
const programWrittenAt = Date.parse("2026-11-01T00:00:00Z");

export function checkNode(version = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isRecent = major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1]);
  const detail = `Node.js ${version}`;
  return isRecent ? ok("node", detail) : failed("node", detail, `Install Node.js ${nodeMin.join(".")} or later.`);
}

/** @param database the clocks of its machine and of this one at the same moment */
export function checkClock(database: { readonly theirs: Date; readonly ours: Date } | undefined): Check {
  const advice = "Synchronize the clocks with a time service: they date events and tokens.";
  if (Date.now() < programWrittenAt)
    return failed("clock", `this machine's clock says ${new Date().toISOString()}`, advice);
  if (database === undefined) return ok("clock", new Date().toISOString());
  const skewMs = database.theirs.getTime() - database.ours.getTime();
  const detail = `the database's clock is ${Math.abs(skewMs)} ms ${skewMs < 0 ? "behind" : "ahead of"} this one`;
  return Math.abs(skewMs) <= clockSkewMaxMs ? ok("clock", detail) : warning("clock", detail, advice);
}

/** Checks the disk of the embedded database. We cannot see the disk of a PostgreSQL server. */
export async function checkDisk({ databaseUrl, dataDir }: Config): Promise<Check> {
  if (databaseUrl !== undefined) return ok("disk", "the PostgreSQL server stores everything");
  const folder = await nearestFolder(dataDir);
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    const free = await freeBytes(folder);
    const detail = `${Math.round(free / 1_000_000).toLocaleString("en")} MB are free for ${dataDir}`;
    const advice = "Free some space, or set DATA_DIR to a folder on another disk.";
    if (free < freeBytesMin) return failed("disk", detail, advice);
    return free < freeBytesEnough ? warning("disk", detail, advice) : ok("disk", detail);
  } catch (error) {
    return failed("disk", reasonOf(error), `Make ${folder} writable for this user, or set DATA_DIR.`);
  }
}

/** The folder, or its nearest ancestor that exists. */
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
    return ok("redis", `REDIS_URL is not set: rate limits and live updates cover ${processes} only`);
  }
  const { checkRedisAt } = await import("./redisCheck.js"); // on demand: its library takes time to load
  return checkRedisAt(redisUrl);
}

/** Whether a server could listen. A port in use is only a warning: Vitrine may be running already. */
export async function checkPort({ host, port }: Config): Promise<Check> {
  if (port === 0) return ok("port", "any free port is used");
  const problem = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
  if (problem === undefined) return ok("port", `${port} is free on ${host}`);
  return problem.code === "EADDRINUSE"
    ? warning(
        "port",
        `${port} is in use on ${host}`,
        "If the program that uses it is not Vitrine, set PORT to another port.",
      )
    : failed("port", reasonOf(problem), "Correct HOST and PORT.");
}

const metricsTimeoutMs = 5_000;
/** Another program may listen on the port, and answer with more. */
const metricsBytesMax = 4 * 1024 * 1024;

/** Asks the server that listens on this port whether it knows the addresses of shoppers. Empty if it is not Vitrine. */
export async function checkProxy({
  host,
  port,
  trustedProxies,
}: Pick<Config, "host" | "port" | "trustedProxies">): Promise<readonly Check[]> {
  const metrics = await readMetrics(host, port).catch(() => "");
  const counted = valueOf(metrics, proxyAddresses);
  if (counted === undefined) return [];
  if (counted !== "0") {
    const detail = `requests to /collect/v1 that were counted by the address of a proxy, as if from one shopper: ${counted}`;
    return [warning("proxy", detail, adviceFor(trustedProxies))];
  }
  if (trustedProxies === 0 && valueOf(metrics, untrustedProxies) !== "0") {
    const detail = "requests come through a proxy: /collect/v1 would count all shoppers behind it as one";
    return [warning("proxy", detail, adviceFor(trustedProxies))];
  }
  return [ok("proxy", "no request to /collect/v1 was counted by the address of a proxy")];
}

function adviceFor(trustedProxies: number): string {
  return `Have each proxy set X-Forwarded-For, and set TRUST_PROXY to the number of proxies (it is ${trustedProxies}).`;
}

function valueOf(metrics: string, name: string): string | undefined {
  const line = metrics.split("\n").find((one) => one.startsWith(`${name} `));
  return line?.slice(name.length + 1);
}

async function readMetrics(host: string, port: number): Promise<string> {
  const signal = AbortSignal.timeout(metricsTimeoutMs);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host, port, path: "/metrics", agent: false, signal }, resolve).once("error", reject);
  });
  let metrics = "";
  for await (const piece of response.setEncoding("utf8")) {
    metrics += String(piece);
    if (metrics.length > metricsBytesMax) return "";
  }
  return metrics;
}
