import type { Worker } from "node:cluster";
import { openLog } from "./log.js";
import { createApp } from "../../app.js";
import type { Config } from "../../config.js";
import { openDatabase } from "../../database/open.js";
import { type Channel, openChannel } from "../../cluster/channel.js";
import { reasonOf } from "../terminal/reason.js";
import { untilSignal } from "./signals.js";
import { withApp } from "./withApp.js";

/** Serves as one of several workers until the primary or a signal stops it. Errors are reported to the primary. */
export async function serveAsWorker(config: Config, worker: Worker): Promise<void> {
  const channel = openChannel(worker);
  try {
    await serve(config, worker, channel);
  } catch (error) {
    channel.send("failed", reasonOf(error));
    process.exitCode = 1;
  }
  worker.disconnect(); // it would keep the process alive
}

async function serve(config: Config, worker: Worker, channel: Channel): Promise<void> {
  const log = openLog(config);
  const database = await openDatabase(config, "exclusive", (problem) =>
    log.warn({ err: problem.message }, "database problem"),
  );
  try {
    const create = () => createApp(config, database, log, { primary: channel });
    await withApp(config, create, async ({ url, open }) => {
      open();
      const stopRequest = untilStopRequest(worker, channel);
      channel.send("serves", url);
      // A terminal signals the primary and its workers, so that both may arrive: the second must not end the process immediately.
      await Promise.race([stopRequest, untilSignal()]);
    });
  } finally {
    await database.close();
  }
}

/** Resolves when the primary stops this worker, or is gone. */
function untilStopRequest(worker: Worker, channel: Channel): Promise<void> {
  return new Promise((resolve) => {
    channel.on("stop", resolve);
    worker.once("disconnect", () => {
      worker.exitedAfterDisconnect = true; // or Node would end the process immediately
      resolve();
    });
  });
}
