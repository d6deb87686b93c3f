import type { EventEmitter } from "node:events";
import { Socket } from "node:net";
import pg, { type PoolConfig } from "pg";
import { parseTextArray } from "./rawParameters.js";
import { socketFolderOf } from "./engine.js";
import { codeOf, faultOfState, lockNotAvailable } from "./databaseErrors.js";
import { yieldAfterBytes } from "../lib/streams/eventLoop.js";

/** Without this, a frozen process would keep its locks. It covers the time in which an import reads from memory or a file. */
const idleInTransactionMs = 10_000;

const keepAliveMs = 10_000;

/** With these, the server notices within 25 seconds that a client's machine is gone. */
const serverKeepAlive = {
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 25_000,
};

/**
 * JIT compilation takes longer than it saves for any of our statements. Parallel workers would bypass the shares of stores, and
 * slow down busy machines. Data is in memory or on SSDs: with the default cost, for spinning disks, PostgreSQL would read the
 * whole catalog instead of looking up a thousand rows by key.
 */
const planning = { jit: "off", max_parallel_workers_per_gather: 0, random_page_cost: 1.1 };

/** How soon PostgreSQL notices that the client of a running statement is gone. */
const goneClientMs = 2_000;

const clientKeepAlive = { keepAlive: true, keepAliveInitialDelayMillis: keepAliveMs } satisfies PoolConfig;

const defaults: WatchdogOptions = { probeAfterMs: 3_000, responseTimeoutMs: 5_000 };

/** Unless a connection has its own `connectionTimeoutMillis`. */
export const connectTimeoutMs = 5_000;
/** The OID of text[] in PostgreSQL's pg_type.dat. */
const textArrayOid = 1009;

// The default parser appends single characters: a second for 25 large products.
pg.types.setTypeParser(textArrayOid as never, parseTextArray); // pg's types lack arrays

export interface Connections {
  readonly pool: pg.Pool;
  readonly config: PoolConfig;
  readonly sockets: ReadonlySet<Socket>;
  readonly destroyAll: () => void;
}

/** Survives errors of the server and detects a server that hangs. */
export function openPool(
  connection: PoolConfig,
  log: (problem: Error) => void,
  watchdog?: WatchdogOptions,
): Connections {
  const connections = openConnections(connection, log);
  // The embedded engine cannot be probed during a statement.
  if (socketFolderOf(connection) === undefined) {
    const { pool, config, sockets, destroyAll } = connections;
    const onHung = (problem: Error): void => {
      log(problem);
      destroyAll();
    };
    watchServer(pool, config, sockets, onHung, watchdog);
  }
  return connections;
}

/** A pool without watchdog, for statements with a client-side time limit. */
export function openConnections(connection: PoolConfig, log: (problem: Error) => void): Connections {
  const sockets = new Set<Socket>();
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const config: PoolConfig = {
    connectionTimeoutMillis: connectTimeoutMs,
    ...clientKeepAlive,
    ...connection,
    stream: () => {
      const socket = new Socket();
      sockets.add(socket);
      return socket.once("close", () => sockets.delete(socket));
    },
  };
  const pool = new pg.Pool(config);
  keepRefused(pool);
  const outdated = new WeakSet<pg.PoolClient>();
  pool.on("error", log); // errors of idle connections
  // Without a listener, errors between statements would end the process.
  pool.on("connect", (client) => {
    client.on("error", () => undefined);
    readInTurns(client);
    noteFaults(client, outdated);
  });
  pool.on("release", (_, client) => void (outdated.delete(client) && client.end())); // the pool then drops it
  return { pool, destroyAll, config, sockets };
}

/**
 * Keeps a connection whose statement met a lock. pg-pool would close it, as after any error, and a new one costs the server tens
 * of milliseconds when many callers want the same rows.
 */
function keepRefused(pool: pg.Pool): void {
  const query = async (statement: pg.QueryConfig, values?: unknown[]) => {
    const client = await pool.connect();
    try {
      const result = await client.query(statement, values);
      client.release();
      return result;
    } catch (error) {
      client.release(codeOf(error) === lockNotAvailable ? undefined : (error as Error));
      throw error;
    }
  };
  pool.query = query as typeof pool.query; // no caller passes a callback
}

/** A newer session has the current settings of its role, and is on the server that the address leads to now. */
const outdatedAfterMs = 1_000;

/** Notes sessions that met a fault, because a new one may be writable, and pg-pool keeps sessions of failed transactions. */
function noteFaults(client: pg.PoolClient, outdated: WeakSet<pg.PoolClient>): void {
  const openedAt = performance.now();
  connectionOf(client).on("errorMessage", ({ code }: pg.DatabaseError) => {
    if (faultOfState(code) !== undefined && performance.now() - openedAt > outdatedAfterMs) outdated.add(client);
  });
}

function connectionOf(client: pg.PoolClient): EventEmitter & { readonly stream: Socket } {
  return (client as unknown as { connection: EventEmitter & { readonly stream: Socket } }).connection; // missing in its types
}

/** Reads large results in pieces, between which other requests run. */
function readInTurns(client: pg.PoolClient): void {
  const { stream } = connectionOf(client);
  stream.on("data", ({ length }: Buffer) => {
    const turn = yieldAfterBytes(length);
    if (turn === undefined) return;
    stream.pause();
    void turn.then(() => stream.resume());
  });
}

export const planAgeMaxMs = 3_000;

/**
 * Renews the plans of prepared statements every few seconds. PostgreSQL does so only after ANALYZE. Until then, a plan that scans
 * a table of a few rows would serve the thousands of rows of a show's first minute.
 */
export function limitPlanAge(pool: pg.Pool, ageMaxMs = planAgeMaxMs): void {
  const madeAt = new WeakMap<pg.PoolClient, number>();
  pool.on("acquire", (client) => {
    const now = performance.now();
    const before = madeAt.get(client);
    if (before !== undefined && now - before < ageMaxMs) return;
    madeAt.set(client, now);
    // The client's next statement waits for it, and reports what is wrong with the connection.
    if (before !== undefined) void client.query("DISCARD PLANS").catch(() => undefined);
  });
}

interface WatchdogOptions {
  readonly probeAfterMs: number;
  readonly responseTimeoutMs: number;
}

/**
 * Detects a server or network that hangs without closing connections: the server itself enforces statement_timeout, so a
 * statement would wait forever. While a statement runs for long, this probes the server over a new connection. A busy pooler may
 * queue the probe, so data on the pool's connections counts as a response too.
 */
function watchServer(
  pool: pg.Pool,
  config: PoolConfig,
  sockets: ReadonlySet<Socket>,
  onHung: (problem: Error) => void,
  { probeAfterMs, responseTimeoutMs }: WatchdogOptions = defaults,
): void {
  const busySince = new Map<pg.PoolClient, number>();
  let timer: NodeJS.Timeout | undefined;

  const schedule = (): void => {
    timer = setTimeout(() => void check(), probeAfterMs).unref();
  };
  const check = async (): Promise<void> => {
    const startedBefore = performance.now() - probeAfterMs;
    const isOverdue = [...busySince.values()].some((since) => since <= startedBefore);
    if (isOverdue && !pool.ending && !(await isResponding(config, sockets, responseTimeoutMs))) {
      onHung(new Error(`The database server has not answered for ${responseTimeoutMs / 1_000} seconds.`));
    }
    timer = undefined;
    if (busySince.size > 0) schedule();
  };

  pool.on("acquire", (client) => {
    busySince.set(client, performance.now());
    if (timer === undefined) schedule();
  });
  pool.on("release", (_, client) => void busySince.delete(client));
}

async function isResponding(config: PoolConfig, sockets: ReadonlySet<Socket>, timeoutMs: number): Promise<boolean> {
  // Without the probe's connection, because a pooler may greet it without asking the server.
  const before = [...sockets].map((socket) => ({ socket, bytesRead: socket.bytesRead }));
  return (await probe(config, timeoutMs)) || before.some(({ socket, bytesRead }) => socket.bytesRead > bytesRead);
}

async function probe(config: PoolConfig, timeoutMs: number): Promise<boolean> {
  const limits = { connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs };
  const client = new pg.Client({ ...config, ...limits });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch (error) {
    return error instanceof pg.DatabaseError; // a refusal is a response
  } finally {
    void client.end().catch(() => undefined);
  }
}

/**
 * Ends statements, and their locks, when their client is gone: otherwise PostgreSQL notices only when it answers. Not a startup
 * parameter, because a server on Windows, which does not support it, would refuse the connection.
 */
export function endWithClient(pool: pg.Pool): void {
  // The client's next statement waits for it, and reports what is wrong with the connection.
  pool.on("connect", (client) => {
    void client
      .query(`SELECT set_config('client_connection_check_interval', '${goneClientMs}', false)`)
      .catch(() => undefined);
  });
}

/** Adds startup parameters. Transaction poolers refuse them, so there the role has these settings (docs/scale.md). */
export function withTimeLimits(connection: PoolConfig): PoolConfig {
  const { connectionString } = connection;
  const ours = Object.entries({ ...serverKeepAlive, ...planning }).map(([name, value]) => `-c ${name}=${value}`);
  return {
    idle_in_transaction_session_timeout: idleInTransactionMs,
    ...clientKeepAlive,
    ...connection,
    ...(connectionString !== undefined && { connectionString: withoutOptions(connectionString) }),
    options: [...ours, ...optionsOf(connection)].join(" "), // the last value counts
  };
}

/** The options of a connection, from the URL or PGOPTIONS. */
function optionsOf(connection: PoolConfig): readonly string[] {
  const { connectionParameters } = new pg.Client(connection) as pg.Client & {
    readonly connectionParameters: { readonly options?: string }; // missing in pg's types
  };
  return connectionParameters.options === undefined ? [] : [connectionParameters.options];
}

function withoutOptions(connectionString: string): string {
  const url = new URL(connectionString);
  if (!url.searchParams.has("options")) return connectionString;
  url.searchParams.delete("options");
  return url.href;
}
