import { existsSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import type { Worker } from "node:worker_threads";
import { readdir, rename, rm, rmdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { DamagedDatabaseError, failureOf, isDiskFull } from "./engineFailure.js";
import { inFolder, makeFolder, unusable } from "./folder.js";
import { startThread } from "../../lib/threads/thread.js";
import { packageFile } from "../../lib/packageFiles.js";

export interface EmbeddedServer {
  /** A `host` for pg. */
  readonly socketFolder: string;
  /** Calls a function after each notification that a client sent. */
  readonly onNotified: (listener: () => void) => void;
  /** Settles when the engine stops unexpectedly. */
  readonly crashed: Promise<Error>;
  readonly kill: () => Promise<void>;
  close(): Promise<void>;
}

interface EmbeddedOptions {
  readonly folder: string;
  /** For one command, not for a server. */
  readonly isShortLived?: boolean;
}

/**
 * Bytes of a WebAssembly function that run before V8 optimizes it: 17 times the default. At the default, optimizing thousands
 * of functions that run a few times at the engine's start takes a third of a command's CPU time.
 */
const tieringBudget = 30_000_000;
/** A command ends before most optimizations pay off: this saves a fifth of its CPU time. */
const shortLivedTieringBudget = 300_000_000;
const startTimeoutMs = 120_000;
const closeTimeoutMs = 10_000;
export const socketName = ".s.PGSQL.5432";

/** Starts PGlite in a worker. Its unix socket is in a temporary folder, because the path may have at most 107 bytes. */
export async function startEmbedded({ folder, isShortLived = false }: EmbeddedOptions): Promise<EmbeddedServer> {
  await prepareFolder(folder);
  const socketFolder = mkdtempSync(join(tmpdir(), "vitrine-"));
  const removeNow = () => removeSocketFolder(socketFolder);
  setFlagsFromString(`--wasm-tiering-budget=${isShortLived ? shortLivedTieringBudget : tieringBudget}`);
  setFlagsFromString("--wasm-lazy-validation"); // validates only functions that run, and not all 9 MB of code
  process.once("exit", removeNow); // before the worker starts, so that process.exit always removes the folder
  const worker = startThread("database/embedded/embeddedEngine.worker", {
    workerData: { folder, socketPath: join(socketFolder, socketName) },
  });
  const ended = new Promise<Error>((resolve) => {
    worker.once("error", (error) => resolve(failureOf(folder, error)));
    worker.once("exit", (code) => resolve(new Error(`The embedded database stopped with code ${code}.`)));
  });
  const end = async () => {
    await worker.terminate();
    removeNow();
    process.off("exit", removeNow);
  };
  try {
    await Promise.race([messageFrom(worker, "ready", startTimeoutMs), ended.then((error) => Promise.reject(error))]);
  } catch (error) {
    await end();
    if (await isDiskFull(folder)) throw unusable(folder, "ENOSPC", error);
    throw error;
  }
  return {
    socketFolder,
    onNotified: (listener) =>
      void worker.on("message", (message: unknown) => {
        if (message === "notified") listener();
      }),
    crashed: ended,
    kill: end,
    async close() {
      worker.postMessage("close");
      await Promise.race([messageFrom(worker, "closed", closeTimeoutMs).catch(() => undefined), ended]);
      await end();
    },
  };
}

async function prepareFolder(folder: string): Promise<void> {
  await inFolder(folder, async () => {
    await makeFolder(folder);
    await fillFolder(folder);
  });
  // Without this check, the engine would create a new database in its place.
  if (!existsSync(join(folder, "PG_VERSION"))) throw new DamagedDatabaseError(folder, "PG_VERSION is missing");
}

export function removeSocketFolder(socketFolder: string): void {
  try {
    rmSync(join(socketFolder, socketName), { force: true });
    rmdirSync(socketFolder);
  } catch {
    // It is gone already, or not ours.
  }
}

async function messageFrom(worker: Worker, expected: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`The embedded database was not ${expected} in time.`)), timeoutMs);
    worker.on("message", (message: unknown) => {
      if (message !== expected) return;
      clearTimeout(timer);
      resolve();
    });
    worker.once("exit", () => clearTimeout(timer)); // the timer would keep the process alive
  });
}

/** A new database, which takes the engine seconds to create. The build creates it once (scripts/build.js). */
const newDatabase = fileURLToPath(packageFile("dist/database/embedded/new.tar.gz"));

/**
 * Puts a database without tables into an empty folder. If the process is killed, the folder stays empty, and the next start
 * removes what is left next to it, even if a restore has filled the folder since.
 *
 * @throws {Error} if the archive is missing, or the error of node:fs
 */
export async function fillFolder(folder: string, archive = newDatabase): Promise<void> {
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  if ((await readdir(folder)).length > 0) return;
  if (!existsSync(archive)) throw new Error(`${archive} is missing. It is part of the build: run npm run build.`);
  const { extractAtOnce } = await import("./archive.js"); // imported only here, because its library slows down other starts
  extractAtOnce(archive, draft);
  await rmdir(folder); // Windows does not rename a folder to an existing one, even if that is empty
  await rename(draft, folder);
}
