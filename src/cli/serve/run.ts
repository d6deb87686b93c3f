import type { Logger } from "pino";
import { createApp } from "../../app.js";
import type { Config } from "../../config.js";
import { isMigrated } from "../../database/migrations/applied.js";
import { type OpenDatabase, openDatabase } from "../../database/open.js";
import type { Sweep } from "../../lib/sweep.js";
import { type Demo, prepareDemo } from "../demo/demo.js";
import { startDemoTraffic } from "../demo/traffic.js";
import { migrateIfNeeded, withFolder } from "../runtime.js";
import { reasonOf } from "../terminal/reason.js";
import { banner, hasNoStore } from "./banner.js";
import { recoverInterruptedImports } from "./imports.js";
import { firstStart, type Lifecycle, withLifecycle } from "./lifecycle.js";
import { openLog } from "./log.js";
import { untilSignal } from "./signals.js";
import { withApp } from "./withApp.js";

/** Serves in this process until a signal stops it. */
export function serve(config: Config): Promise<void> {
  const log = openLog(config);
  return withLifecycle(log, config, (lifecycle) => run(config, log, lifecycle));
}

async function run(config: Config, log: Logger, lifecycle: Lifecycle): Promise<void> {
  const warn = (problem: Error) => log.warn({ err: problem.message }, "database problem");
  process.stdout.write(firstStart(config) ?? "");
  const database = await openDatabase(config, "exclusive", warn);
  let recovery: Sweep | undefined;
  try {
    await migrateIfNeeded(database, config, warn);
    recovery = await recoverInterruptedImports(database, warn);
    const create = () => createApp(config, database, log);
    await withApp(config, create, async ({ app, url, open }) => {
      const demo = await openDemo(database, config, url);
      if (demo?.token !== undefined) app.showDemoToken(demo.token);
      if (demo?.shop !== undefined) app.showDemoShop(demo.shop);
      open();
      await database.share();
      process.stdout.write(banner(url, config, { demo, isEmpty: await hasNoStore(database) }));
      const hasTraffic = demo !== undefined && config.demoTraffic;
      const stopTraffic = hasTraffic ? startDemoTraffic(database.client, app.feed) : undefined;
      lifecycle.serves(url);
      try {
        await untilStopped(database, lifecycle);
      } finally {
        await stopTraffic?.();
      }
    });
  } catch (error) {
    throw withFolder(error, database, config);
  } finally {
    await recovery?.stop();
    await database.close();
  }
}

/** Waits for a signal. @throws what the database crashed with */
async function untilStopped({ crashed }: OpenDatabase, lifecycle: Lifecycle): Promise<void> {
  const reason = await Promise.race([untilSignal(), crashed]);
  lifecycle.stops(typeof reason === "string" ? reason : reasonOf(reason));
  if (typeof reason !== "string") throw reason;
}

/** After the port is known to be free: the demo's token is shown only once. */
async function openDemo(
  { engine, client }: OpenDatabase,
  { demoToken }: Config,
  url: string,
): Promise<Demo | undefined> {
  return engine.kind === "embedded" && (await isMigrated(client)) ? prepareDemo(client, demoToken, url) : undefined;
}
