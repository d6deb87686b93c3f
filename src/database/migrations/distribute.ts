import pg, { type PoolConfig } from "pg";
import { AppError } from "../../errors.js";
import type { Database } from "../client.js";
import { distributeStatement, undistributedTables } from "./distribute.sql.js";
import { migrationLockKey } from "./migrate.js";

const connectTimeoutMs = 5_000;

/**
 * Turns a migrated database with Citus into one that is spread over nodes, or adds the tables that later migrations made.
 * All of it is one statement, so that it is done as a whole or not at all.
 *
 * @returns the tables that it spread
 */
export async function distribute(connection: PoolConfig): Promise<readonly string[]> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: connectTimeoutMs });
  client.on("error", () => undefined); // the query that needs the connection reports it
  await client.connect();
  try {
    // All rows there are may have to be moved; a role or a database may have a limit of its own, here and on each node.
    await client.query("SET statement_timeout = 0");
    await client.query("SET citus.propagate_set_commands = 'local'");
    await client.query("BEGIN");
    await client.query("SET LOCAL statement_timeout = 0");
    await client.query("SELECT pg_advisory_xact_lock($1)", [migrationLockKey]); // what is listed is left by no other
    const { rows: tables } = await client.query<{ name: string }>(undistributedTables);
    if (tables.length > 0) await client.query(distributeStatement);
    await client.query("COMMIT");
    return tables.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** The tables that belong to stores and are not spread over nodes. Undefined where the database has no Citus. */
export async function tablesLeftOut(db: Database): Promise<readonly string[] | undefined> {
  if (!(await hasCitus(db))) return undefined;
  const tables = await db.$queryRawUnsafe<{ name: string }[]>(undistributedTables);
  return tables.map(({ name }) => name);
}

/** @throws {AppError} BAD_REQUEST where the database has no Citus */
export async function requireCitus(db: Database): Promise<void> {
  if (!(await hasCitus(db))) throw withoutCitus();
}

export function withoutCitus(): AppError {
  const message =
    "This database has no Citus: there is nothing to distribute over. Run CREATE EXTENSION citus on a server that has it.";
  return new AppError("BAD_REQUEST", message);
}

async function hasCitus(db: Database): Promise<boolean> {
  const [row] = await db.$queryRaw<
    [{ exists: boolean }]
  >`SELECT to_regclass('pg_dist_partition') IS NOT NULL AS exists`;
  return row.exists;
}
