import { setTimeout as sleep } from "node:timers/promises";
import type { PoolConfig } from "pg";
import type { Config } from "../config.js";
import type { DatabaseProbe, RootDatabase } from "./client.js";
import { type EmbeddedServer, removeSocketFolder, startEmbedded } from "./embedded/engine.js";
import { type FileLock, heartbeatTimeoutMs } from "./embedded/fileLock.js";
import { findHolder, lockFolder } from "./embedded/folder.js";
import { type Holder, isElsewhere } from "./embedded/holder.js";
import { startMaintenance } from "./embedded/maintenance.js";
import { finishRestore, foldersOf } from "./embedded/restored.js";
import { type Engine, socketFolderOf } from "./engine.js";
import { isUnavailable } from "./errors.js";
import { openClient } from "./openClient.js";
import { type DatabaseReadiness, openReadiness } from "./readiness.js";
import { withTimeLimits } from "./timeLimits.js";

export interface OpenDatabase {
  readonly client: RootDatabase;
  readonly probe: DatabaseProbe;
  readonly readiness: DatabaseReadiness;
  /** The options for further connections. */
  readonly connection: PoolConfig;
  readonly engine: Engine;
  /** Settles when the embedded engine stops unexpectedly or its folder is taken over. */
  readonly crashed: Promise<Error>;
  /** Shares an embedded database with other processes. */
  share(): Promise<void>;
  close(): Promise<void>;
}

export class FolderInUseError extends Error {
  override readonly name = "FolderInUseError";
}

type Log = (problem: Error) => void;
/** How long a command waits for a turn at the engine of a busy server. */
const commandWaitMs = 30_000;
const never = new Promise<never>(() => undefined);

/**
 * Opens the PostgreSQL server of DATABASE_URL, or else the embedded one on DATA_DIR. `exclusive` is for the process
 * that serves: it must hold the folder. Other commands use its socket, or hold the folder without sharing it, since
 * they may end during another's work.
 *
 * @throws {FolderInUseError} with the pid of the process that holds the folder
 */
export async function openDatabase(config: Config, use: "exclusive" | "shared", log: Log): Promise<OpenDatabase> {
  if (config.databaseUrl !== undefined) {
    const connection = { connectionString: config.databaseUrl, max: config.databasePoolMax };
    return connect(connection, log, { namedStatements: config.databaseNamedStatements });
  }
  const { dataDir } = config;
  const lock = await lockFolder(dataDir, (holder) =>
    log(new Error(`${inUseElsewhere(dataDir, holder)} Waiting for that.`)),
  );
  if ("release" in lock) return startHere(dataDir, lock, log, use === "shared");
  if (await isElsewhere(lock)) throw new FolderInUseError(inUseElsewhere(dataDir, lock));
  if (use === "exclusive") throw new FolderInUseError(`${dataDir} is in use by process ${lock.pid}.`);
  const holder = await findHolder(dataDir);
  if (holder === undefined) return openDatabase(config, use, log);
  if (holder.socketFolder === undefined) throw new FolderInUseError(`${dataDir} is in use by process ${holder.pid}.`);
  const connection = { ...embeddedConnection(holder.socketFolder), connectionTimeoutMillis: commandWaitMs };
  return connect(connection, log);
}

function inUseElsewhere(dataDir: string, { pid, hostname }: Holder): string {
  const where = `in another container or on another machine, ${hostname ?? "without a name"}`;
  const until = `It is taken over ${heartbeatTimeoutMs / 1_000} seconds after its last heartbeat.`;
  return `${dataDir} is in use by process ${pid} ${where}. ${until}`;
}

/** PGlite has one session: further connections would only wait. */
export function embeddedConnection(socketFolder: string): PoolConfig {
  return { host: socketFolder, port: 5432, user: "postgres", database: "postgres", max: 1 };
}

interface ConnectOptions {
  /** False where clients share sessions: the embedded engine, transaction poolers. */
  readonly namedStatements?: boolean;
  /** Of the embedded engine's files, in the process that has them. */
  readonly folder?: string;
}

export function connect(
  connection: PoolConfig,
  log: Log,
  { namedStatements = isServer(connection), folder }: ConnectOptions = {},
): OpenDatabase {
  const keepsLimits = namedStatements && isServer(connection);
  const limited = keepsLimits ? withTimeLimits(connection) : connection;
  const ownsEngine = folder !== undefined;
  const { client, engine, probe, close } = openClient(limited, { namedStatements, keepsLimits, ownsEngine, log });
  const readiness = openReadiness(limited, log, folder);
  return {
    client,
    probe,
    readiness,
    connection: limited,
    engine,
    crashed: never,
    share: async () => undefined,
    close: async () => void (await Promise.all([close(), readiness.close()])),
  };
}

function isServer(connection: PoolConfig): boolean {
  return socketFolderOf(connection) === undefined;
}

const firstAnswerTimeoutMs = 60_000;
const retryMs = 50;

/** Waits for the engine's first response: on a busy machine connections time out while the program loads. */
async function untilAnswered({ client }: OpenDatabase, { crashed }: EmbeddedServer): Promise<void> {
  const deadline = performance.now() + firstAnswerTimeoutMs;
  for (;;) {
    try {
      await client.$queryRaw`SELECT 1`;
      return;
    } catch (error) {
      const isOver = performance.now() > deadline || !isUnavailable(error);
      const crash = isOver ? undefined : await Promise.race([crashed, sleep(retryMs)]);
      if (isOver || crash !== undefined) throw crash ?? error;
    }
  }
}

async function startHere(dataDir: string, lock: FileLock, log: Log, isShortLived: boolean): Promise<OpenDatabase> {
  const server = await startServer(dataDir, lock, isShortLived);
  const { socketFolder, crashed } = server;
  let isLost = false;
  void lock.lost.then(() => {
    isLost = true;
    return server.kill(); // writes nothing more into another process's folder
  });
  // Connections end with the engine; `crashed` has the reason.
  const logUnlessLost: Log = (problem) => {
    if (!isLost) log(problem);
  };
  const open = connect(embeddedConnection(socketFolder), logUnlessLost, { folder: dataDir });
  try {
    await untilAnswered(open, server);
  } catch (error) {
    await open.close();
    await server.kill();
    await lock.release();
    throw error;
  }
  const maintenance = startMaintenance(open.client, logUnlessLost);
  return {
    ...open,
    crashed: Promise.race([lock.lost, crashed]),
    share: () => lock.publish({ socketFolder }),
    async close() {
      await maintenance.stop();
      await open.close();
      await server.close();
      await lock.release();
    },
  };
}

async function startServer(dataDir: string, lock: FileLock, isShortLived: boolean): Promise<EmbeddedServer> {
  try {
    if (lock.abandonedBy?.socketFolder !== undefined) removeSocketFolder(lock.abandonedBy.socketFolder);
    await finishRestore(dataDir);
    return await startEmbedded({ folder: foldersOf(dataDir).database, isShortLived });
  } catch (error) {
    await lock.release();
    throw error;
  }
}
