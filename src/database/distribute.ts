import pg, { type PoolConfig } from "pg";
import { AppError } from "../errors.js";
import { distributeStatement, undistributedTables } from "./distribute.sql.js";

const connectTimeoutMs = 5_000;

/**
 * Turns a migrated database into one that Citus spreads over nodes, or adds the tables that later migrations made. All of
 * it is one statement, so that it is done as a whole or not at all.
 *
 * @returns the tables that were not spread before
 * @throws {AppError} BAD_REQUEST where the database has no Citus
 */
export async function distribute(connection: PoolConfig): Promise<readonly string[]> {
  // Without a time limit on statements: all rows there are may have to be moved.
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: connectTimeoutMs });
  client.on("error", () => undefined); // the query that needs the connection reports it
  await client.connect();
  try {
    const { rows } = await client.query<{ exists: boolean }>(
      "SELECT to_regclass('pg_dist_partition') IS NOT NULL AS exists",
    );
    if (rows[0]?.exists !== true) throw withoutCitus();
    const { rows: tables } = await client.query<{ name: string }>(undistributedTables);
    await client.query(distributeStatement);
    return tables.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

function withoutCitus(): AppError {
  const message =
    "This database has no Citus: there is nothing to distribute over. Run CREATE EXTENSION citus on a server that has it.";
  return new AppError("BAD_REQUEST", message);
}
