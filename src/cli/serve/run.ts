import { type Logger, pino } from "pino";
import { createApp, type App } from "../../app.js";
import type { Config } from "../../config.js";
import { isMigrated } from "../../database/migrations/applied.js";
import { type OpenDatabase, openDatabase } from "../../database/open.js";
import { type Sweep, startSweep } from "../../lib/sweep.js";
import { type Demo, prepareDemo, startDemoTraffic } from "../demo/demo.js";
import { migrateIfNeeded, withFolder } from "../runtime.js";
import { reasonOf } from "../terminal/failure.js";
import { banner, hasNoStore, firstStart, type Lifecycle, withLifecycle } from "./lifecycle.js";
import { untilSignal } from "./signals.js";
import { recoverImports } from "../../catalog/import/staging/recover.js";
import { listen, type RunningServer } from "../../server/server.js";
import type { Worker } from "node:cluster";
import { type Channel, openChannel } from "../../server/cluster/channel.js";
import { sqlStateOf } from "../../database/databaseErrors.js";
import { clip } from "../../lib/text.js";

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

/** Waits for a signal. @throws the error with which the database crashed */
async function untilStopped({ crashed }: OpenDatabase, lifecycle: Lifecycle): Promise<void> {
  const reason = await Promise.race([untilSignal(), crashed]);
  lifecycle.stops(typeof reason === "string" ? reason : reasonOf(reason));
  if (typeof reason !== "string") throw reason;
}

/** Called only when the port is known to be free, because the demo's token is shown only once. */
async function openDemo(
  { engine, client }: OpenDatabase,
  { demoToken }: Config,
  url: string,
): Promise<Demo | undefined> {
  return engine.kind === "embedded" && (await isMigrated(client)) ? prepareDemo(client, demoToken, url) : undefined;
}

/**
 * Completes or removes imports that killed processes left in the embedded database: all of them now, and later those of commands
 * that are killed while this server runs.
 *
 * @param log called with problems; the sweep tries again
 * @returns the running sweep; undefined on PostgreSQL, where a killed import leaves nothing
 */
async function recoverInterruptedImports(
  { engine, client }: OpenDatabase,
  log: (problem: Error) => void,
): Promise<Sweep | undefined> {
  if (engine.kind !== "embedded" || !(await isMigrated(client))) return undefined;
  await recoverImports(client, "all");
  return startSweep({
    everyMs: 30_000,
    work: () => recoverImports(client, "old"),
    onError: (error) => log(error instanceof Error ? error : new Error(String(error))),
  });
}

interface Served {
  readonly app: App;
  readonly url: string;
  /** Starts to answer, first the requests that have waited. */
  readonly open: () => void;
}

/**
 * Serves an app while work lasts, and closes both gracefully at the end. Listens before it creates the app, so that a port in use is
 * found first.
 *
 * @param create makes the app
 */
export async function withApp(
  config: Config,
  create: () => Promise<App>,
  work: (served: Served) => Promise<void>,
): Promise<void> {
  let open: (app: App) => void = () => undefined;
  const opened = new Promise<App>((resolve) => {
    open = resolve;
  });
  const server = await listen((request, response) => void opened.then((app) => app.handler(request, response)), config);
  let app: App | undefined;
  try {
    const created = (app = await create());
    await work({ app, url: server.url, open: () => open(created) });
  } finally {
    await endService(server, app, config);
  }
}

/** Running requests and then the app have SHUTDOWN_GRACE_MS together to end. Without an app, the server stops immediately. */
async function endService(server: RunningServer, app: App | undefined, { shutdownGraceMs }: Config): Promise<void> {
  if (app === undefined) return server.stop(0);
  const endsAt = performance.now() + shutdownGraceMs;
  const stopped = server.stop(shutdownGraceMs);
  await app.feed.close(); // open streams would use up the grace period
  await stopped;
  await app.close(Math.max(0, endsAt - performance.now()));
}

/** Serves as one of several workers until the primary or a signal stops it. Reports errors to the primary. */
export async function serveAsWorker(config: Config, worker: Worker): Promise<void> {
  const channel = openChannel(worker);
  try {
    await serveWorker(config, worker, channel);
  } catch (error) {
    channel.send("failed", reasonOf(error));
    process.exitCode = 1;
  }
  worker.disconnect(); // the channel would keep the process alive
}

async function serveWorker(config: Config, worker: Worker, channel: Channel): Promise<void> {
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
      // A terminal signals workers too, so a worker may get a signal and a request to stop: the second must not end it immediately.
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

/** How long lines below warn are buffered. */
const waitMs = 50;
const warnLevel = 40;
const bufferedCharactersMax = 16_384;
/** If nobody reads standard error, for example because the reader of a pipe hangs, further lines are dropped. */
const unwrittenCharactersMax = 8 * 1_024 * 1_024;

/** The log of a process that serves: JSON lines on standard error. */
export function openLog({ logLevel }: Pick<Config, "logLevel">): Logger {
  const destination = pino.destination({ dest: 2, sync: false, maxLength: unwrittenCharactersMax });
  return pino({ level: logLevel, serializers: { err: loggedError } }, buffered(destination));
}

/**
 * Writes lines in batches, which take two thirds of the CPU time of single writes. Writes warnings and errors immediately, with the
 * lines before them: sonic-boom's own buffer (minLength) would hold them back during a write.
 */
function buffered(destination: { write(text: string): unknown }) {
  let lines: string[] = [];
  let characters = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (lines.length > 0) destination.write(lines.join(""));
    lines = [];
    characters = 0;
  };
  process.prependListener("exit", flush); // must run before the destination flushes itself
  return {
    [Symbol.for("pino.metadata")]: true, // makes pino set lastLevel
    lastLevel: 0,
    write(line: string) {
      lines.push(line);
      characters += line.length;
      if (characters >= bufferedCharactersMax || this.lastLevel >= warnLevel) flush();
      else timer ??= setTimeout(flush, waitMs);
    },
  };
}

const messageMax = 500;

/** What may be logged of an error: those of Prisma and PostgreSQL also contain query parameters and whole rows. */
export function loggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? clip(error, messageMax) : typeof error;
  const { name, stack = "" } = error;
  const sqlState = sqlStateOf(error);
  return {
    type: error.constructor.name || name,
    message: hasValue(sqlState) ? "The database refused a value." : clip(reasonOf(error), messageMax),
    ...("code" in error && typeof error.code === "string" && { code: error.code }),
    sqlState,
    stack: stack
      .split("\n")
      .filter((line) => /^ +at /u.test(line))
      .join("\n"),
  };
}

/** Messages of class 22 (data exceptions) repeat the value. */
function hasValue(sqlState: string | undefined): boolean {
  return sqlState?.startsWith("22") === true;
}
