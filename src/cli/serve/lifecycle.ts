import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../../config.js";
import { packageVersion } from "../../lib/packageFiles.js";
import { reasonOf } from "../terminal/failure.js";
import { servesGraphiql } from "../../server/pages/graphiql/graphiql.js";
import { isMigrated } from "../../database/migrations/applied.js";
import type { OpenDatabase } from "../../database/open.js";
import type { Demo } from "../demo/demo.js";

export interface Lifecycle {
  serves(address: string): void;
  /** Logs that the service begins to stop. @param reason the signal, or the error */
  stops(reason: string): void;
}

/**
 * Logs when a service serves, begins to stop (with the reason) and has stopped, and how long each took. A start that
 * fails only throws its error.
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

/** Announces the creation of the embedded database, because it takes seconds. Undefined at later starts. */
export function firstStart({ databaseUrl, dataDir }: Config): string | undefined {
  if (databaseUrl !== undefined || existsSync(join(dataDir, "postgres"))) return undefined;
  return `Vitrine ${packageVersion()} is creating its database in ${dataDir}; this takes a few seconds on the first start.\n`;
}

/** Whether the banner shows the commands that create a store and a token. */
export async function hasNoStore({ client }: Pick<OpenDatabase, "client">): Promise<boolean> {
  return (await isMigrated(client)) && (await client.store.count()) === 0;
}

interface Contents {
  readonly demo?: Demo | undefined;
  readonly isEmpty?: boolean;
}

/** The text for standard output once the service answers. */
export function banner(address: string, config: Config, { demo, isEmpty = false }: Contents = {}): string {
  const url = `${address}${config.basePath ?? ""}`;
  const lines = [
    `Vitrine listens on ${address}`,
    ...(demo?.shop === undefined ? [] : [`  Demo shop  ${url}/demo`]),
    `  Dashboard  ${url}/dashboard`,
    ...(servesGraphiql(config) ? [`  GraphiQL   ${url}/graphql`] : []),
    `  API docs   ${url}/docs`,
    `  OpenAPI    ${url}/openapi.json`,
    ...(demo === undefined ? [] : demoLines(url, demo)),
    ...(isEmpty ? firstSteps : []),
  ];
  return `\n${lines.join("\n")}\n\n`;
}

const firstSteps = [
  "",
  "  There is no store yet. Create one, and a token for its callers:",
  "    npx vitrine store create acme",
  "    npx vitrine token issue acme",
];

function demoLines(url: string, { store, token, readOnlyToken, productId }: Demo): string[] {
  if (token === undefined || readOnlyToken === undefined) {
    return ["", `  For a token of store ${store}: npx vitrine token issue ${store}`];
  }
  return [
    "",
    `  Store      ${store}`,
    `  Token      ${token}`,
    `  Open       ${url}/dashboard#token=${encodeURIComponent(token)}`,
    `  Read-only  ${url}/dashboard#token=${encodeURIComponent(readOnlyToken)}`,
    "",
    `  curl -H 'X-Service-Access-Token: ${token}' ${url}/external/product/v1/${productId}`,
  ];
}
