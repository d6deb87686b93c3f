import type { PoolConfig } from "pg";
import { type Prisma, PrismaClient } from "../generated/prisma/client.js";
import { UnparkingPrismaPg } from "./parked.js";
import type { DatabaseProbe } from "./probe.js";

/** A database, or a transaction in it: what every plain function takes first. */
export type Database = Prisma.TransactionClient;

/** The database itself, where a function opens transactions of its own. */
export type RootDatabase = PrismaClient;

/** How long a caller waits for a free connection, and for a new one to be made. */
const connectTimeoutMs = 5_000;
const statementTimeoutMs = 15_000;

interface ClientOptions {
  /** Whether the server may keep statements between queries: not on one session that several clients share. */
  readonly namedStatements: boolean;
  readonly log: (problem: Error) => void;
}

/** Opens a pool of connections; nothing is connected before the first query. */
export function openClient(
  pool: PoolConfig,
  { namedStatements, log }: ClientOptions,
): { readonly client: PrismaClient; readonly probe: DatabaseProbe } {
  const adapter = new UnparkingPrismaPg(
    {
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: statementTimeoutMs,
      keepAlive: true,
      application_name: "vitrine",
      ...pool,
    },
    {
      onPoolError: log,
      onConnectionError: log,
      ...(namedStatements && { statementNameGenerator: ({ sql }) => statementName(sql) }),
    },
  );
  const transactionOptions = { maxWait: connectTimeoutMs };
  return { client: new PrismaClient({ adapter, errorFormat: "minimal", transactionOptions }), probe: adapter.probe };
}

/**
 * The name under which a connection keeps a statement parsed and planned: what stands in the comment at its beginning.
 * Empty, which names nothing, without one: only frequent statements of one unchanging text have one, since a connection keeps what it was given until it ends.
 */
function statementName(sql: string): string {
  return /^\/\* (\w+) \*\//u.exec(sql)?.[1] ?? "";
}
