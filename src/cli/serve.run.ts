import { openLog } from "./log.js";
import { createApp } from "../app.js";
import type { Config } from "../config.js";
import { isMigrated } from "../database/migrations.js";
import { type OpenDatabase, openDatabase } from "../database/open.js";
import { listen } from "../http/server.js";
import { type Demo, prepareDemo } from "./demo.js";
import { startDemoTraffic } from "./demo.traffic.js";
import { migrateIfNeeded } from "./runtime.js";
import { banner, endService } from "./serve.common.js";
import { untilSignal } from "./signals.js";

/** Serves in this process until told to stop. */
export async function serve(config: Config): Promise<void> {
  const log = openLog(config);
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
      if (demo?.token !== undefined) app.showDemoToken(demo.token);
      open();
      await database.share();
      process.stdout.write(banner(server.url, config, demo));
      if (demo !== undefined && config.demoTraffic) stopTraffic = startDemoTraffic(database.client, app.feed);
      await Promise.race([untilSignal(), database.crashed.then((error) => Promise.reject(error))]);
    } finally {
      await stopTraffic?.();
      await endService(server, app, config);
    }
  } finally {
    await database.close();
  }
}

async function openDemo({ engine, client }: OpenDatabase, { demoToken }: Config): Promise<Demo | undefined> {
  return engine === "embedded" && (await isMigrated(client)) ? prepareDemo(client, demoToken) : undefined;
}
