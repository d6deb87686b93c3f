// PGlite in a thread: the gateway's event loop never runs a query.
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { extendedQueryLock } from "./protocol.js";

/**
 * A quarter of the default, because the engine clears all of it at its start. This saves 105 MB and 150 ms; reads and imports of
 * 100,000 products are as fast.
 */
const sharedBuffers = "32MB";

/** How much of the log a checkpoint keeps to be overwritten, at least and at most. */
const recycledLog = { min_wal_size: "64MB", max_wal_size: "128MB" };
/** How much of the log before a checkpoint is kept, because a backup copies the log while it grows (backup/backUp.ts). */
const keptLog = "64MB";
/** ANALYZE reads fewer rows with this: 60 ms for 53,000 products, and not 170. */
const statisticsTarget = "30";

const { folder, socketPath } = workerData as { folder: string; socketPath: string };

const logLine = /^(?:([\dA-Z]{5}) (?:FATAL|PANIC)|postgres): (.*)$/u;
const detailLine = /^[\dA-Z]{5} DETAIL: (.*)$/u;
const internalError = "XX000";
let lastWords: { readonly text: string; readonly state: string } | undefined;

const pglite = await PGlite.create({
  dataDir: folder,
  startParams: [
    ...PGlite.defaultStartParams,
    ...Object.entries({
      shared_buffers: sharedBuffers,
      ...recycledLog,
      wal_keep_size: keptLog,
      default_statistics_target: statisticsTarget,
      log_line_prefix: "%e ", // the SQL state
    }).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ],
  onStderr: listen,
}).catch((error: unknown) => {
  throw withReason(error);
});
const server = new PGLiteSocketServer({
  db: extendedQueryLock(pglite, { onFailure: endThread, onNotified: () => parentPort?.postMessage("notified") }),
  path: socketPath,
  maxConnections: 64,
});
await server.start();
parentPort?.postMessage("ready");

parentPort?.once("message", () => {
  void (async () => {
    await server.stop();
    await pglite.close();
    parentPort?.postMessage("closed");
    process.exit(0); // ends only this thread
  })();
});

/** The main thread receives it as an uncaught error. */
function endThread(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}

/** Keeps the engine's last message, which explains a failure. */
function listen(line: string): boolean {
  const [, state = internalError, text] = logLine.exec(line) ?? [];
  const [, detail] = detailLine.exec(line) ?? [];
  if (text !== undefined) lastWords = { text: text.trim(), state };
  else if (detail !== undefined && lastWords !== undefined)
    lastWords = { ...lastWords, text: `${lastWords.text}: ${detail.trim()}` };
  return false; // prints nothing
}

/** The error of a failed start with PostgreSQL's message, which ends with the SQL state (engineFailure.ts). */
function withReason(error: unknown): unknown {
  const { message, code } = error as Error & { readonly code?: string };
  const { text, state } = lastWords ?? { text: message, state: code };
  return state === undefined ? error : new Error(`${text} (${state})`, { cause: error });
}
