import pg, { type PoolConfig } from "pg";

/** Else a frozen process would keep its locks. Imports read from memory or a file meanwhile. */
const idleInTransactionMs = 10_000;
const keepAliveMs = 10_000;
/** Notices within 25 seconds that a client's machine is gone. */
const serverKeepAlive = {
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 25_000,
};
/**
 * Compiling a statement takes longer than any of ours saves by it. Parallel workers for one statement would come from
 * those of other requests, past the shares of stores; on busy machines they make it slower. What is read is in memory or on SSDs: with
 * the default, for disks that turn, a thousand rows would not be looked up by their keys, but the whole catalog read.
 */
const planning = { jit: "off", max_parallel_workers_per_gather: 0, random_page_cost: 1.1 };

/** How soon PostgreSQL notices that the client of a running statement is gone. */
const goneClientMs = 2_000;

/**
 * Has statements, and what they lock, end with their client: PostgreSQL else notices only when it answers. Not a startup
 * parameter, since a server on Windows, which cannot, would refuse the connection.
 */
export function endWithClient(pool: pg.Pool): void {
  // The client's next statement waits for it, and reports what is wrong with the connection.
  pool.on("connect", (client) => {
    void client
      .query(`SELECT set_config('client_connection_check_interval', '${goneClientMs}', false)`)
      .catch(() => undefined);
  });
}

export const clientKeepAlive = { keepAlive: true, keepAliveInitialDelayMillis: keepAliveMs } satisfies PoolConfig;

/** Adds startup parameters, which transaction poolers refuse: there, the role has them (docs/scale.md). */
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
