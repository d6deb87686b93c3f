import type { Worker } from "node:cluster";
import { openLog } from "./log.js";
import { type App, createApp } from "../../app.js";
import type { Config } from "../../config.js";
import { openDatabase } from "../../database/open.js";
import { type Channel, openChannel } from "../../lib/channel.js";
import { reasonOf } from "../terminal/reason.js";
import { endService, listenEarly } from "./common.js";
import { untilSignal } from "./signals.js";

/** Serves as one of several workers until told to stop, by the primary or by a signal. What goes wrong is for the primary. */
export async function serveAsWorker(config: Config, worker: Worker): Promise<void> {
  const channel = openChannel(worker);
  try {
    await serve(config, worker, channel);
  } catch (error) {
    channel.send("failed", reasonOf(error));
    process.exitCode = 1;
  }
  worker.disconnect(); // the channel would keep the process up
}

async function serve(config: Config, worker: Worker, channel: Channel): Promise<void> {
  const log = openLog(config);
  const database = await openDatabase(config, "exclusive", (problem) =>
    log.warn({ err: problem.message }, "trouble with the database"),
  );
  try {
    const { server, open } = await listenEarly(config);
    let app: App | undefined;
    try {
      app = await createApp(config, database, log, channel);
      open(app);
      const told = untilToldToStop(worker, channel);
      channel.send("serves", server.url);
      // At a terminal the signal comes to the primary and to its workers: they are told twice, which is not two signals.
      await Promise.race([told, untilSignal()]);
    } finally {
      await endService(server, app, config);
    }
  } finally {
    await database.close();
  }
}

/** Resolves when the primary wants this worker to stop, or is gone. */
function untilToldToStop(worker: Worker, channel: Channel): Promise<void> {
  return new Promise((resolve) => {
    channel.on("stop", resolve);
    worker.once("disconnect", () => {
      worker.exitedAfterDisconnect = true; // or Node would end the process here and now, as it does before it serves
      resolve();
    });
  });
}
