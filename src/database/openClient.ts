import type { PoolConfig } from "pg";
import { PrismaClient } from "../generated/prisma/client.js";
import { RawParameterPrismaPg } from "./rawParameters.js";
import { openPool } from "./pool.js";
import type { DatabaseProbe } from "./client.js";
import { shareConnections } from "./shares/shares.js";

const statementTimeoutMs = 15_000;
/**
 * Nobody holds a connection for longer to wait for a lock: who has to, waits without one (lockWait.ts). Longer than the second
 * after which PostgreSQL looks for deadlocks, which are told apart and tried again.
 */
const lockTimeoutMs = 2_000;
const transactionWaitMs = 5_000;
/** What is still under way when a client is closed has this long to end. */
const closeTimeoutMs = 1_000;

interface ClientOptions {
  /** Whether the server may keep statements between queries: not on one session that several clients share. */
  readonly namedStatements: boolean;
  /** Whether each connection has limits of its own: not behind a pooler, nor in the embedded engine. */
  readonly keepsLimits: boolean;
  readonly log: (problem: Error) => void;
}

/** A database that is open, and what closes it: in time, even if the server hangs. */
interface OpenClient {
  readonly client: PrismaClient;
  readonly probe: DatabaseProbe;
  readonly close: () => Promise<void>;
}

/** Opens a pool of connections; nothing is connected before the first query. */
export function openClient(connection: PoolConfig, { namedStatements, keepsLimits, log }: ClientOptions): OpenClient {
  const { pool, cut } = openPool(
    {
      statement_timeout: statementTimeoutMs,
      ...(keepsLimits && { lock_timeout: lockTimeoutMs }),
      application_name: "vitrine",
      ...connection,
    },
    log,
  );
  const adapter = new RawParameterPrismaPg(pool, {
    onConnectionError: log,
    ...(namedStatements && { statementNameGenerator: ({ sql }) => statementName(sql) }),
  });
  const transactionOptions = { maxWait: transactionWaitMs };
  const client = new PrismaClient({ adapter, errorFormat: "minimal", transactionOptions });
  const { requests, longWork, wideReads } = shareConnections(client, pool.options.max);
  const { probe } = adapter;
  probe.waiting = () => pool.waitingCount + requests.waiting + longWork.waiting + wideReads.waiting;
  const close = async (): Promise<void> => {
    for (const share of [requests, longWork, wideReads]) share.close(); // who waits would only find what is closed
    const timer = setInterval(cut, closeTimeoutMs); // again: requests that waited for a connection get new ones
    try {
      await client.$disconnect();
      // Not by Prisma, which would then open another one for whatever is asked afterwards.
      if (!pool.ending) await pool.end();
    } finally {
      clearInterval(timer);
      cut(); // what asks whether the server hangs
    }
  };
  return { client, probe, close };
}

/**
 * The name under which a connection keeps a statement parsed and planned: what stands in the comment at its beginning.
 * Empty, which names nothing, without one: only frequent statements of one unchanging text have one, since a connection keeps what it was given until it ends.
 */
function statementName(sql: string): string {
  return /^\/\* (\w+) \*\//u.exec(sql)?.[1] ?? "";
}
