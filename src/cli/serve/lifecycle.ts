import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../../config.js";
import { packageVersion } from "../../lib/packageFiles.js";
import { reasonOf } from "../terminal/reason.js";

export interface Lifecycle {
  serves(address: string): void;
  /** It has begun to stop. @param reason the signal */
  stops(reason: string): void;
}

/**
 * Logs when a service serves, begins to stop and has stopped, why, and how long it took. A start that fails is reported
 * as its error alone.
 */
export async function withLifecycle(
  log: Logger,
  { databaseUrl, webConcurrency }: Config,
  run: (lifecycle: Lifecycle) => Promise<void>,
): Promise<void> {
  const engine = databaseUrl === undefined ? "embedded" : "postgresql";
  const facts = {
    version: packageVersion(),
    node: process.version,
    engine,
    ...(webConcurrency > 1 && { workers: webConcurrency }),
  };
  const startedAt = performance.now();
  let hasServed = false;
  let stop: { readonly reason: string; readonly at: number } | undefined;
  const serves = (address: string): void => {
    hasServed = true;
    log.info({ ...facts, address, ms: msSince(startedAt) }, "serving");
  };
  const stops = (reason: string): void => {
    stop = { reason, at: performance.now() };
    log.info({ reason, uptimeSeconds: Math.round((stop.at - startedAt) / 1_000) }, "stopping");
  };
  try {
    await run({ serves, stops });
  } catch (error) {
    if (hasServed && stop === undefined) stops(reasonOf(error));
    throw error;
  } finally {
    if (stop !== undefined) log.info({ reason: stop.reason, ms: msSince(stop.at) }, "stopped");
  }
}

function msSince(start: number): number {
  return Math.round(performance.now() - start);
}

/** The line for standard output before the embedded database is made, which takes seconds; undefined at later starts. */
export function firstStart({ databaseUrl, dataDir }: Config): string | undefined {
  if (databaseUrl !== undefined || existsSync(join(dataDir, "postgres"))) return undefined;
  return `Vitrine ${packageVersion()} is creating its database in ${dataDir}; this takes a few seconds on the first start.\n`;
}
