import { Socket } from "node:net";
import pg, { type PoolConfig } from "pg";
import { parseTextArray } from "./arrayLiteral.js";
import { type WatchdogOptions, watchServer } from "./hungServer.js";
import { clientKeepAlive } from "./timeLimits.js";

const connectTimeoutMs = 5_000;
/** As in PostgreSQL's pg_type.dat. */
const textArrayOid = 1009;

// The default parser appends single characters: a second for 25 large products.
pg.types.setTypeParser(textArrayOid as never, parseTextArray); // its types lack arrays

export interface Connections {
  readonly pool: pg.Pool;
  readonly config: PoolConfig;
  readonly sockets: ReadonlySet<Socket>;
  readonly destroyAll: () => void;
}

/** A pool that survives errors of the server and detects one that hangs. */
export function openPool(
  connection: PoolConfig,
  log: (problem: Error) => void,
  watchdog?: WatchdogOptions,
): Connections {
  const connections = openConnections(connection, log);
  // The embedded engine, recognizable by its socket folder, cannot be probed during a statement.
  if (connection.host === undefined) {
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
  pool.on("error", log); // of idle connections
  // Without a listener, errors between statements would end the process; the next statement reports them.
  pool.on("connect", (client) => void client.on("error", () => undefined));
  return { pool, destroyAll, config, sockets };
}
