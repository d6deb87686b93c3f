import { Socket } from "node:net";
import pg, { type PoolConfig } from "pg";
import { parseTextArray } from "./arrayLiteral.js";
import { type WatchdogOptions, watchServer } from "./hungServer.js";
import { clientKeepAlive } from "./timeLimits.js";

/** How long a caller waits for a free connection, and for a new one to be made. */
const connectTimeoutMs = 5_000;
/** The type `text[]`, as in PostgreSQL's pg_type.dat. */
const textArrayOid = 1009;

// The parser that pg brings collects a list character by character: a second for 25 large products.
pg.types.setTypeParser(textArrayOid as never, parseTextArray); // its types know no arrays

export interface Connections {
  readonly pool: pg.Pool;
  /** How its connections are opened. */
  readonly config: PoolConfig;
  /** Theirs, as they are at any time. */
  readonly sockets: ReadonlySet<Socket>;
  /** Ends all of them at once, whatever they are at: statements under way fail. */
  readonly cut: () => void;
}

/**
 * A pool of connections that no failure of the server ends this process by, or keeps waiting without end.
 *
 * @param log told when connections are ended because the server hangs
 */
export function openPool(
  connection: PoolConfig,
  log: (problem: Error) => void,
  suspicion?: WatchdogOptions,
): Connections {
  const connections = openConnections(connection, log);
  // The embedded engine, which is known by its socket's folder, has one session: it answers nobody during a statement.
  if (connection.host === undefined) {
    const { pool, config, sockets, cut } = connections;
    const onHung = (problem: Error): void => {
      log(problem);
      cut();
    };
    watchServer(pool, config, sockets, onHung, suspicion);
  }
  return connections;
}

/** A pool likewise, for statements that have a time limit here: nobody looks whether the server hangs. */
export function openConnections(connection: PoolConfig, log: (problem: Error) => void): Connections {
  const sockets = new Set<Socket>();
  const cut = (): void => {
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
  pool.on("error", log); // of an idle connection
  // An error of a connection that nobody listens to would end the process, and between being made or being idle and
  // being used nobody does. The statement that needs the connection reports it.
  pool.on("connect", (client) => void client.on("error", () => undefined));
  return { pool, cut, config, sockets };
}
