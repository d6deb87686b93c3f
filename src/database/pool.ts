import pg, { type PoolConfig } from "pg";
import { endHungConnections } from "./hungServer.js";

/** How long a caller waits for a free connection, and for a new one to be made. */
export const connectTimeoutMs = 5_000;

/**
 * A pool of connections that no failure of the server ends this process by, or keeps waiting without end.
 *
 * @param log told when connections are ended because the server hangs
 */
export function openPool(connection: PoolConfig, log: (problem: Error) => void): pg.Pool {
  const config = { connectionTimeoutMillis: connectTimeoutMs, keepAlive: true, ...connection };
  const pool = new pg.Pool(config);
  // An error of a connection that nobody listens to would end the process, and between being made or being idle and
  // being used nobody does. The statement that needs the connection reports it.
  pool.on("connect", (client) => void client.on("error", () => undefined));
  // The embedded engine, which is known by its socket's folder, has one session: it answers nobody during a statement.
  if (connection.host === undefined) endHungConnections(pool, config, log);
  return pool;
}
