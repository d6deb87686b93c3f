import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { PoolConfig } from "pg";
import type { Config } from "../config.js";
import type { DatabaseProbe, RootDatabase } from "./client.js";
import { type EmbeddedServer, removeSocketFolder, startEmbedded } from "./embedded/embeddedEngine.js";
import { type FileLock, heartbeatTimeoutMs } from "./embedded/fileLock.js";
import { findHolder, finishRestore, foldersOf, lockFolder } from "./embedded/folder.js";
import { type Holder, isElsewhere } from "./embedded/lockOwner.js";
import { type Engine, serverEngine, setEngine, socketFolderOf } from "./engine.js";
import { isUnavailable } from "./databaseErrors.js";
import { type DatabaseReadiness, openReadiness } from "./readiness.js";
import { connectTimeoutMs, endWithClient, limitPlanAge, openPool, withTimeLimits } from "./pool.js";
import { Prisma, PrismaClient } from "../generated/prisma/client.js";
import { startSweep, type Sweep } from "../lib/sweep.js";
import { RawParameterPrismaPg } from "./rawParameters.js";
import { askCitus, createStoreNodes } from "./citus/nodes.js";
import { createShares } from "./shares/forStore.js";

const statementTimeoutMs = 15_000;

/**
 * Longer waits hold no connection (lockWait.ts). Exceeds deadlock_timeout, so that deadlocks are recognized and
 * retried.
 */
const lockTimeoutMs = 2_000;

const closeTimeoutMs = 1_000;

const everyMs = 1_000;

/** How much log may follow a checkpoint. Recovery replays this, and what is written until the next round. */
const logBytesMax = 32 * 1024 * 1024;

export interface OpenDatabase {
  readonly client: RootDatabase;
  readonly probe: DatabaseProbe;
  readonly readiness: DatabaseReadiness;
  /** Options for further connections. */
  readonly connection: PoolConfig;
  readonly engine: Engine;
  /** If this process runs the embedded engine, calls `listener` after each notification that another process sent. */
  readonly onNotified?: EmbeddedServer["onNotified"];
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
 * Opens the PostgreSQL server of DATABASE_URL, or else the embedded one on DATA_DIR. `exclusive` is for the process that serves,
 * which must hold the folder. Other commands use its socket, or hold the folder without sharing it, because they may end while
 * another command works.
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

/** One connection, because PGlite has one session: others would only wait. */
export function embeddedConnection(socketFolder: string): PoolConfig {
  return { host: socketFolder, port: 5432, user: "postgres", database: "postgres", max: 1 };
}

interface ConnectOptions {
  /** False if clients share sessions, as on the embedded engine or behind a transaction pooler. */
  readonly namedStatements?: boolean;
  /** The folder of the embedded engine's files, in the process that runs it. */
  readonly folder?: string;
}

export function connect(
  connection: PoolConfig,
  log: Log,
  { namedStatements = isServer(connection), folder }: ConnectOptions = {},
): OpenDatabase {
  const keepsLimits = namedStatements && isServer(connection);
  const limited = keepsLimits ? withTimeLimits(connection) : connection;
  const { client, engine, probe, close } = openClient(limited, { namedStatements, keepsLimits, log });
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

/** Waits for the engine's first response, because on a busy machine connections time out while the program loads. */
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
    return server.kill(); // so that it writes nothing more into a folder that is now another process's
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
    onNotified: server.onNotified,
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

/**
 * Does the work of PostgreSQL's checkpointer and autovacuum, which the embedded engine does not have. No request waits for a whole
 * round, and each statement is short, because rounds follow each other soon.
 */
function startMaintenance(db: RootDatabase, log: (problem: Error) => void): Sweep {
  const onError = (cause: unknown): void =>
    log(new Error("The embedded database could not be maintained; retrying later", { cause }));
  return startSweep({ everyMs, onError, work: (signal) => maintain(db, signal) });
}

async function maintain(db: RootDatabase, signal: AbortSignal): Promise<void> {
  for (const statement of await dueStatements(db)) {
    if (signal.aborted) return;
    await db.$executeRaw(Prisma.raw(statement));
  }
}

/**
 * CHECKPOINT; VACUUM for tables with dead rows above a twentieth of the live ones; ANALYZE for changed rows above a fifth, after which
 * the index of times describes new pages, too, all of which it has read until then. A crash loses the engine's counts, so a table that it
 * believes to be empty is counted again.
 */
async function dueStatements(db: RootDatabase): Promise<readonly string[]> {
  const due = await db.$queryRaw<{ statement: string | null }[]>`/* maintenance */
    SELECT 'CHECKPOINT' AS statement FROM pg_control_checkpoint()
    WHERE pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) > ${logBytesMax}
    UNION ALL
    SELECT format('VACUUM %I', relname) FROM pg_stat_user_tables
    WHERE n_dead_tup > 1000 + n_live_tup / 20 OR (n_live_tup = 0 AND n_dead_tup = 0 AND pg_relation_size(relid) > 0)
    UNION ALL
    SELECT unnest(ARRAY[format('ANALYZE %I', relname), CASE WHEN relname = 'ShowEvent' THEN
      'SELECT brin_summarize_new_values(''"ShowEvent_times_idx"'')' END])
    FROM pg_stat_user_tables WHERE n_mod_since_analyze > 1000 + n_live_tup / 5`;
  return due.flatMap(({ statement }) => statement ?? []);
}

interface ClientOptions {
  /** False if several clients share a session. */
  readonly namedStatements: boolean;
  /** Whether a session belongs to its connection: neither behind a pooler nor in the embedded engine. */
  readonly keepsLimits: boolean;
  readonly log: (problem: Error) => void;
}

interface OpenClient {
  readonly client: PrismaClient;
  readonly engine: Engine;
  readonly probe: DatabaseProbe;
  readonly close: () => Promise<void>;
}

/** Connects on the first query. Closing ends in time even if the server hangs. */
export function openClient(
  connection: pg.PoolConfig,
  { namedStatements, keepsLimits, log }: ClientOptions,
): OpenClient {
  const { connectionTimeoutMillis = connectTimeoutMs } = connection;
  const timeouts = { statement_timeout: statementTimeoutMs, ...(keepsLimits && { lock_timeout: lockTimeoutMs }) };
  const { pool, destroyAll } = openPool({ ...timeouts, application_name: "vitrine", ...connection }, log);
  if (namedStatements) limitPlanAge(pool);
  if (keepsLimits) endWithClient(pool);
  const adapter = new RawParameterPrismaPg(pool, {
    onConnectionError: log,
    ...(namedStatements && { statementNameGenerator: ({ sql }) => statementName(sql) }),
  });
  const transactionOptions = { maxWait: connectionTimeoutMillis };
  const client = new PrismaClient({ adapter, errorFormat: "minimal", transactionOptions });
  const engine = engineFor(connection, pool);
  setEngine(client, engine);
  const { requests, longWork, wideReads } = createShares(client, {
    max: pool.options.max,
    connectionTimeoutMillis,
    nodeOf: engine.kind === "embedded" ? undefined : (storeId) => engine.nodes?.nodeOf(storeId),
  });
  const { probe } = adapter;
  probe.waiting = () => pool.waitingCount + requests.waiting + longWork.waiting + wideReads.waiting;
  const close = async (): Promise<void> => {
    for (const share of [requests, longWork, wideReads]) share.close();
    await closeClient(client, pool, destroyAll);
  };
  return { client, engine, probe, close };
}

function engineFor(connection: pg.PoolConfig, pool: pg.Pool): Engine {
  if (!isServer(connection)) return { kind: "embedded" };
  return serverEngine((onNone) => createStoreNodes(askCitus(pool), onNone));
}

async function closeClient(client: PrismaClient, pool: pg.Pool, destroyAll: () => void): Promise<void> {
  const timer = setInterval(destroyAll, closeTimeoutMs); // repeatedly, because queued requests open new connections
  try {
    await client.$disconnect();
    // Prisma would reopen a pool that it closes itself.
    if (!pool.ending) await pool.end();
  } finally {
    clearInterval(timer);
    destroyAll(); // ends the watchdog's probe
  }
}

/**
 * The name in the comment before the statement. Only frequent statements with constant text have one, because a connection keeps
 * prepared statements.
 */
function statementName(sql: string): string {
  return /^\/\* (\w+) \*\//u.exec(sql)?.[1] ?? "";
}
