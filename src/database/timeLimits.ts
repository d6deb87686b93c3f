import pg, { type PoolConfig } from "pg";

/**
 * A transaction in which nothing happens for so long is ended by the server: of a process that is frozen nobody would otherwise
 * hear, and what it has locked would stay locked. Imports read their next rows meanwhile, from memory or from a file.
 */
const idleInTransactionMs = 10_000;
/** A connection on which nothing comes is asked after so long whether there is still somebody at the other end. */
const keepAliveMs = 10_000;
/** For the server's end: whose client's machine has gone ends within 25 seconds. Sockets of a machine's own ignore it. */
const serverKeepAlive = {
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 25_000,
};

/** What every connection to PostgreSQL is opened with. */
export const clientKeepAlive = { keepAlive: true, keepAliveInitialDelayMillis: keepAliveMs } satisfies PoolConfig;

/**
 * A connection whose server keeps time limits for it, which it is told as the connection begins. Poolers that share connections
 * refuse such parameters, and it would not be this connection that has them: there they are settings of the role (docs/scale.md).
 */
export function withTimeLimits(connection: PoolConfig): PoolConfig {
  const { connectionString } = connection;
  const ours = Object.entries(serverKeepAlive).map(([name, value]) => `-c ${name}=${value}`);
  return {
    idle_in_transaction_session_timeout: idleInTransactionMs,
    ...clientKeepAlive,
    ...connection,
    ...(connectionString !== undefined && { connectionString: withoutOptions(connectionString) }),
    options: [...ours, ...optionsOf(connection)].join(" "), // of two for one setting the later counts
  };
}

/** Those of the URL or of PGOPTIONS, which one here would replace. */
function optionsOf(connection: PoolConfig): readonly string[] {
  const { connectionParameters } = new pg.Client(connection) as pg.Client & {
    readonly connectionParameters: { readonly options?: string }; // pg has it, its types do not
  };
  return connectionParameters.options === undefined ? [] : [connectionParameters.options];
}

function withoutOptions(connectionString: string): string {
  const url = new URL(connectionString);
  if (!url.searchParams.has("options")) return connectionString;
  url.searchParams.delete("options");
  return url.href;
}
