import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject, onTestFinished, type ProvidedContext } from "vitest";
import { lockFolder } from "../../src/database/embedded/folder.js";
import { until } from "./until.js";
import { copyFolder, removeFolders } from "./run/copyFolder.js";
import { nodeFlags } from "./run/nodeFlags.js";
import { givenDatabase } from "./database/database.js";

/**
 * What users run: the compiled program. `npm test` builds it first, and build.setup.ts does where it is out of date.
 * The sources through tsx would take three times as long to start.
 */
export const program = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** What commands print that take more than 5 seconds, as those of tests do on a busy machine only. */
const progressLine = /^\w+: \d+%, .*\n/gmu;

/** What commands have printed, without lines on their progress. */
export function withoutProgress(printed: string): string {
  return printed.replaceAll(progressLine, "");
}

type Variables = Readonly<Record<string, string>>;

/** A process that has ended. */
export interface Ended {
  /** The signal's name where one ended it. */
  readonly status: number | NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process that runs. */
export interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it has printed so far. */
  stdout(): string;
  stderr(): string;
}

/** A `vitrine serve` that has said where it listens. */
export interface Serving extends Running {
  readonly url: string;
  readonly pid: number;
  /** The demo store's token, where the banner shows one. */
  readonly token: string | undefined;
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

/** A private folder, and one for temporary files in it, so that a test sees what a process leaves there. */
export interface Place {
  readonly dataDir: string;
  readonly temporary: string;
  /** The environment that makes a process use both. */
  readonly env: Variables;
}

async function makePlace(): Promise<Place> {
  const dataDir = await mkdtemp(join(tmpdir(), "vt-data-"));
  const temporary = await mkdtemp(join(tmpdir(), "vt-tmp-"));
  return { dataDir, temporary, env: { DATA_DIR: dataDir, TMPDIR: temporary } };
}

/**
 * A place whose database is that of this worker's tests, so that none needs to be made: this process holds the folder's lock,
 * as a server would. Stores in it must have names of their own.
 *
 * @param socketFolder where commands connect to it
 */
export async function makeSharedPlace(socketFolder = givenDatabase().connection.host): Promise<Place> {
  const place = await makePlace();
  const lock = await lockFolder(place.dataDir);
  if (!("release" in lock) || socketFolder === undefined) {
    throw new Error("The embedded database of the run is needed here.");
  }
  await lock.publish({ socketFolder });
  return place;
}

export async function removePlace({ dataDir, temporary }: Place): Promise<void> {
  await removeFolders(dataDir, temporary);
}

/** A place with a migrated database that has no stores yet. */
export function makeMigratedPlace(): Promise<Place> {
  return makeCopy("migrated");
}

/** A place whose database has the store of DEMO_TOKEN, but as an operator's own: a start does not fill it with demo data. */
export function makePlaceWithStore(): Promise<Place> {
  return makeCopy("withStore");
}

async function makeCopy(template: keyof ProvidedContext["templates"]): Promise<Place> {
  const place = await makePlace();
  await copyFolder(inject("templates")[template], join(place.dataDir, "postgres"));
  return place;
}

/** An empty place for one test. */
export async function placeForTest(): Promise<Place> {
  return untilTestFinished(await makePlace());
}

/** A place with a migrated database for one test. */
export async function migratedPlaceForTest(): Promise<Place> {
  return untilTestFinished(await makeMigratedPlace());
}

/** A place with a database that has a store, as of makePlaceWithStore, for one test. */
export async function placeWithStoreForTest(): Promise<Place> {
  return untilTestFinished(await makePlaceWithStore());
}

/** A place with a database without tables for one test: making one takes 4 seconds of CPU time. */
export async function unmigratedPlaceForTest(): Promise<Place> {
  return untilTestFinished(await makeCopy("empty"));
}

function untilTestFinished(place: Place): Place {
  onTestFinished(() => removePlace(place));
  return place;
}

/** Writes down what a process sends to its database, as is done for tests' own connections. */
function recorder(): string {
  const url = new URL("citus/recordProcess.js", import.meta.url);
  url.searchParams.set("folder", inject("statementsFolder"));
  return url.href;
}

const living = new Set<ChildProcess>();
// What a test left that failed or ran out of time. Vitest ends this process by SIGTERM, which by itself is no exit.
process.once("exit", () => living.forEach((child) => child.kill("SIGKILL")));
process.once("SIGTERM", () => process.exit());

/** Starts the program with these variables and no others of ours. */
export function start(args: readonly string[], env: Variables): Running {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(process.execPath, [...nodeFlags, program, ...args], {
    env: { PATH, HOME, NODE_OPTIONS: `--import=${recorder()}`, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  living.add(child);
  child.once("exit", () => living.delete(child));
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      printed[name] += text;
    });
  }
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (status, signal) =>
      resolve({ status: status ?? signal, stdout: printed.stdout, stderr: withoutProgress(printed.stderr) }),
    );
  });
  return { process: child, ended, stdout: () => printed.stdout, stderr: () => printed.stderr };
}

/** As long as a process may take to start or to end: more than a test, so that a test that has more time has all of it. */
const processMaxMs = 50_000;

/** Waits for a process to end. One that does not is killed, and what it was at is told. */
export async function endOf(running: Running): Promise<Ended> {
  const { process: child } = running;
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  await until(hasEnded, "a process to end", processMaxMs).catch((error: unknown) => {
    throw stuck(running, error);
  });
  return running.ended;
}

function stuck(running: Running, error: unknown): Error {
  const { process: child } = running;
  const command = child.spawnargs.slice(2 + nodeFlags.length).join(" ");
  const what = [String(error), command, running.stdout(), running.stderr(), threadsOf(child)].join("\n");
  child.kill("SIGKILL");
  return new Error(what);
}

/** Runs a command to its end. */
export async function vitrine(args: readonly string[], env: Variables): Promise<Ended> {
  return endOf(start(args, env));
}

/** Runs a command with --json, which must succeed and print one JSON object and nothing else. */
export async function vitrineJson(args: readonly string[], env: Variables): Promise<any> {
  return jsonOf(args, await vitrine([...args, "--json"], env));
}

/** The one JSON object that a command printed. @throws if it failed, or printed anything else */
export function jsonOf(args: readonly string[], { status, stdout, stderr }: Ended): any {
  if (status !== 0) throw new Error(`vitrine ${args.join(" ")} ended with ${status}: ${stderr}`);
  const value: unknown = JSON.parse(stdout);
  if (stdout !== `${JSON.stringify(value)}\n`) throw new Error(`More than one JSON object: ${stdout}`);
  return value;
}

const banner = /listens on (\S+)\n[\s\S]*\n\n$/u;

/** Starts a server on any free port and waits until it has said where it listens. One that hangs is killed, and what it was at is told. */
export async function serve(env: Variables): Promise<Serving> {
  const running = start(["serve"], { PORT: "0", LOG_LEVEL: "warn", ...env });
  const { process: child } = running;
  const hasSpoken = () => banner.test(running.stdout()) || child.exitCode !== null;
  await until(hasSpoken, "the server to listen", processMaxMs).catch((error: unknown) => {
    throw stuck(running, error);
  });
  const [, url] = banner.exec(running.stdout()) ?? [];
  if (url === undefined) throw new Error(`The server did not start: ${running.stderr()}`);
  return {
    ...running,
    url,
    pid: child.pid ?? 0,
    token: /Token {6}(\S+)/u.exec(running.stdout())?.[1],
    stop(signal = "SIGTERM") {
      child.kill(signal);
      return endOf(running);
    },
  };
}

/** What the threads of a process and of its children are at. */
function threadsOf({ pid }: ChildProcess): string {
  const columns = "lwp,stat,time,wchan:24,comm";
  return spawnSync("ps", ["-L", "-o", columns, "-p", String(pid), "--ppid", String(pid)]).stdout.toString();
}
