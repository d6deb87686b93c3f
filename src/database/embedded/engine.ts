import { mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { inFolder, makeFolder } from "./folder.js";
import { startThread } from "../../lib/thread.js";

/** A running embedded PostgreSQL. */
export interface EmbeddedServer {
  /** Folder of the unix socket, as `pg` takes it for a host. */
  readonly socketFolder: string;
  /** Settles when the engine stops by itself, which it never should. */
  readonly crashed: Promise<Error>;
  /** Ends it at once, in the middle of whatever it does. */
  readonly kill: () => Promise<void>;
  close(): Promise<void>;
}

interface EmbeddedOptions {
  /** Where the data live. Left out: in memory. */
  readonly folder?: string;
  /** A data folder as PGlite's dumpDataDir gives it, to start from. */
  readonly snapshot?: Uint8Array;
}

const startTimeoutMs = 120_000;
const closeTimeoutMs = 10_000;
const socketName = ".s.PGSQL.5432";
/** Beside it: where commands tell the server of changes; see analytics/feed.socket.ts. */
export const changesSocketName = "changes";

/**
 * Starts PGlite in a worker, behind a unix socket in a private folder.
 * The socket does not stand in the data folder because its path may have at most 107 bytes.
 */
export async function startEmbedded({ folder, snapshot }: EmbeddedOptions): Promise<EmbeddedServer> {
  if (folder !== undefined) await inFolder(folder, () => makeFolder(folder));
  const socketFolder = mkdtempSync(join(tmpdir(), "vitrine-"));
  const removeNow = () => removeSocketFolder(socketFolder);
  process.once("exit", removeNow); // for a process that is told to end at once: so no signal may come in between
  const worker = startThread(new URL("./engine.worker.js", import.meta.url), {
    workerData: { folder, snapshot, socketPath: join(socketFolder, socketName) },
  });
  const ended = new Promise<Error>((resolve) => {
    worker.once("error", ({ message }) => resolve(new Error(`The embedded database stopped: ${message}`)));
    worker.once("exit", (code) => resolve(new Error(`The embedded database stopped with code ${code}.`)));
  });
  const end = async () => {
    await worker.terminate();
    removeNow();
    process.off("exit", removeNow);
  };
  try {
    await Promise.race([said(worker, "ready", startTimeoutMs), ended.then((error) => Promise.reject(error))]);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    socketFolder,
    crashed: ended,
    kill: end,
    async close() {
      worker.postMessage("close");
      await Promise.race([said(worker, "closed", closeTimeoutMs).catch(() => undefined), ended]);
      await end();
    },
  };
}

/** Removes the sockets and the folder made for them, and nothing else that the folder might hold. */
export function removeSocketFolder(socketFolder: string): void {
  try {
    for (const name of [socketName, changesSocketName]) rmSync(join(socketFolder, name), { force: true });
    rmdirSync(socketFolder);
  } catch {
    // Gone already, or not ours.
  }
}

/** Never settles when the thread ends before; see `ended`. */
async function said(worker: Worker, expected: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`The embedded database was not ${expected} in time.`)), timeoutMs);
    worker.on("message", (message: unknown) => {
      if (message !== expected) return;
      clearTimeout(timer);
      resolve();
    });
    worker.once("exit", () => clearTimeout(timer)); // which would keep the process alive
  });
}
