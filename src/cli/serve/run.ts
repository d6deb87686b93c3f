import type { Logger } from "pino";
import { firstStart, type Lifecycle, withLifecycle } from "./lifecycle.js";
import { openLog } from "./log.js";
import { type App, createApp } from "../../app.js";
import type { Config } from "../../config.js";
import { isMigrated } from "../../database/migrations/applied.js";
import { type OpenDatabase, openDatabase } from "../../database/open.js";
import { type Demo, prepareDemo } from "../demo/demo.js";
import { startDemoTraffic } from "../demo/traffic.js";
import { migrateIfNeeded, withFolder } from "../runtime.js";
import { banner, endService, hasNoStore, listenEarly } from "./common.js";
import { recoverInterruptedImports } from "./imports.js";
import { reasonOf } from "../terminal/reason.js";
import { untilSignal } from "./signals.js";

/** Serves in this process until a signal stops it. */
export function serve(config: Config): Promise<void> {
  const log = openLog(config);
  return withLifecycle(log, config, (lifecycle) => run(config, log, lifecycle));
}

async function run(config: Config, log: Logger, lifecycle: Lifecycle): Promise<void> {
  const warn = (problem: Error) => log.warn({ err: problem.message }, "database problem");
  process.stdout.write(firstStart(config) ?? "");
  const database = await openDatabase(config, "exclusive", warn);
  try {
    await migrateIfNeeded(database, config, warn);
    const recovery = await recoverInterruptedImports(database, warn);
    // Before the demo's token is issued, which is shown only once.
    const { server, open } = await listenEarly(config);
    let app: App | undefined;
    let stopTraffic: (() => Promise<void>) | undefined;
    try {
      app = await createApp(config, database, log);
      const demo = await openDemo(database, config, server.url);
      if (demo?.token !== undefined) app.showDemoToken(demo.token);
      if (demo?.shop !== undefined) app.showDemoShop(demo.shop);
      open(app);
      await database.share();
      process.stdout.write(banner(server.url, config, { demo, isEmpty: await hasNoStore(database) }));
      if (demo !== undefined && config.demoTraffic) stopTraffic = startDemoTraffic(database.client, app.feed);
      lifecycle.serves(server.url);
      const reason = await Promise.race([untilSignal(), database.crashed]);
      lifecycle.stops(typeof reason === "string" ? reason : reasonOf(reason));
      if (typeof reason !== "string") throw reason;
    } finally {
      await stopTraffic?.();
      await recovery?.stop();
      await endService(server, app, config);
    }
  } catch (error) {
    throw withFolder(error, database, config);
  } finally {
    await database.close();
  }
}

async function openDemo(
  { engine, client }: OpenDatabase,
  { demoToken }: Config,
  url: string,
): Promise<Demo | undefined> {
  return engine.kind === "embedded" && (await isMigrated(client)) ? prepareDemo(client, demoToken, url) : undefined;
}
