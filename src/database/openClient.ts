import type pg from "pg";
import { PrismaClient } from "../generated/prisma/client.js";
import { RawParameterPrismaPg } from "./rawParameters.js";
import { limitPlanAge, connectTimeoutMs, openPool } from "./pool.js";
import { endWithClient } from "./timeLimits.js";
import type { DatabaseProbe } from "./client.js";
import { askCitus, createStoreNodes } from "./citus/nodes.js";
import { type Engine, serverEngine, setEngine, socketFolderOf } from "./engine.js";
import { createShares } from "./shares/shares.js";

const statementTimeoutMs = 15_000;
/**
 * Longer waits hold no connection (lockWait.ts). Exceeds deadlock_timeout, so that deadlocks are recognized and
 * retried.
 */
const lockTimeoutMs = 2_000;
const closeTimeoutMs = 1_000;

interface ClientOptions {
  /** False where several clients share a session. */
  readonly namedStatements: boolean;
  /** A session belongs to its connection: not behind a pooler, nor in the embedded engine. */
  readonly keepsLimits: boolean;
  /** Whether this process runs the embedded engine. */
  readonly ownsEngine?: boolean;
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
  { namedStatements, keepsLimits, ownsEngine = false, log }: ClientOptions,
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
  const engine = engineFor(connection, pool, ownsEngine);
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

function engineFor(connection: pg.PoolConfig, pool: pg.Pool, isOwn: boolean): Engine {
  const socketFolder = socketFolderOf(connection);
  if (socketFolder !== undefined) return { kind: "embedded", socketFolder, isOwn };
  return serverEngine((onNone) => createStoreNodes(askCitus(pool), onNone));
}

async function closeClient(client: PrismaClient, pool: pg.Pool, destroyAll: () => void): Promise<void> {
  const timer = setInterval(destroyAll, closeTimeoutMs); // repeatedly: queued requests open new connections
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
 * The name in the comment before the statement. Only frequent statements of constant text have one, since a connection
 * keeps prepared statements.
 */
function statementName(sql: string): string {
  return /^\/\* (\w+) \*\//u.exec(sql)?.[1] ?? "";
}
