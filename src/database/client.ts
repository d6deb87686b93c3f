import { PrismaPg } from "@prisma/adapter-pg";
import type { PoolConfig } from "pg";
import { type Prisma, PrismaClient } from "../generated/prisma/client.js";

/** A database, or a transaction in it: what every plain function takes first. */
export type Database = Prisma.TransactionClient;

/** The database itself, where a function opens transactions of its own. */
export type RootDatabase = PrismaClient;

/** How long a caller waits for a free connection, and for a new one to be made. */
const connectTimeoutMs = 5_000;
const statementTimeoutMs = 15_000;

/** Opens a pool of connections; nothing is connected before the first query. */
export function openClient(pool: PoolConfig, log: (problem: Error) => void): PrismaClient {
  const adapter = new PrismaPg(
    {
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: statementTimeoutMs,
      keepAlive: true,
      application_name: "vitrine",
      ...pool,
    },
    { onPoolError: log, onConnectionError: log },
  );
  return new PrismaClient({ adapter, errorFormat: "minimal", transactionOptions: { maxWait: connectTimeoutMs } });
}
