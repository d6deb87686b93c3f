import { pino } from "pino";
import { createApp } from "../app.js";
import { type Config, readConfig } from "../config.js";
import { isMigrated } from "../database/migrations.js";
import { type OpenDatabase, openDatabase } from "../database/open.js";
import { listen, type RunningServer } from "../http/server.js";
import { type Demo, prepareDemo } from "./demo.js";
import { startDemoTraffic } from "./demo.traffic.js";
import { migrateIfNeeded } from "./runtime.js";
import { untilSignal } from "./signals.js";

/** Serves until told to stop. */
export async function serve(): Promise<void> {
  const config = readConfig();
  const log = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: false }));
  const database = await openDatabase(config, "alone", (problem) =>
    log.warn({ err: problem.message }, "database connection lost"),
  );
  try {
    await migrateIfNeeded(database, config);
    const app = await createApp(config, database, log);
    // The demo's token is shown only once, so the port must be had before it is made; calls that come earlier wait for it.
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const server = await listen((request, response) => void opened.then(() => app.handler(request, response)), config);
    let stopTraffic: (() => Promise<void>) | undefined;
    try {
      const demo = await openDemo(database, config);
      open();
      await database.share();
      process.stdout.write(banner(server.url, demo));
      if (demo !== undefined && config.demoTraffic) stopTraffic = startDemoTraffic(database.client, app.feed);
      await Promise.race([untilSignal(), database.crashed.then((error) => Promise.reject(error))]);
    } finally {
      await stopTraffic?.();
      const stopped = server.stop(config.shutdownGraceMs);
      await app.feed.close(); // streams would otherwise keep the server up until the grace ends
      await stopped;
      await app.close();
    }
  } finally {
    await database.close();
  }
}

async function openDemo({ engine, client }: OpenDatabase, { demoToken }: Config): Promise<Demo | undefined> {
  return engine === "embedded" && (await isMigrated(client)) ? prepareDemo(client, demoToken) : undefined;
}

function banner(url: RunningServer["url"], demo: Demo | undefined): string {
  const lines = [
    `Vitrine listens on ${url}`,
    `  GraphiQL   ${url}/graphql`,
    `  OpenAPI    ${url}/openapi.json`,
    ...(demo === undefined ? [] : demoLines(url, demo)),
  ];
  return `\n${lines.join("\n")}\n\n`;
}

function demoLines(url: string, { store, token, productId }: Demo): string[] {
  if (token === undefined) {
    return [
      "",
      `  The token of store ${store} was shown when it was made. For another: npx vitrine token issue ${store}`,
    ];
  }
  return [
    "",
    `  Store      ${store}`,
    `  Token      ${token}`,
    "",
    `  curl -H 'X-Service-Access-Token: ${token}' ${url}/external/product/v1/${productId}`,
  ];
}
