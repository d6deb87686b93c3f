import pg, { type PoolConfig } from "pg";
import { AppError } from "../../errors.js";
import type { Database } from "../client.js";
import { distributeStatement, undistributedTables } from "./distribute.sql.js";
import { isOnCitus } from "../citus/catalog.sql.js";
import { hasOnNodeFunction, onNodeStatements } from "../citus/onNode.sql.js";
import { inSessionTransaction } from "./tableLocks.js";
import { takeMigrationTurn } from "./migrate.js";
import type { TurnLimits } from "./turn.js";

const connectTimeoutMs = 5_000;
/** The longest wait for each lock on a table. */
const lockTimeoutMs = 60_000;

/**
 * Distributes a migrated Citus database over its nodes, all or nothing; idempotent.
 *
 * @param log called where another process is waited for
 * @returns the tables distributed now
 * @throws {AppError} UNAVAILABLE where another process migrates or distributes for too long
 */
export async function distribute(
  connection: PoolConfig,
  log: (problem: Error) => void,
  limits?: TurnLimits,
): Promise<readonly string[]> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: connectTimeoutMs });
  client.on("error", () => undefined);
  await client.connect();
  try {
    // Moving rows may exceed limits of the role, here and on each node.
    await client.query("SET statement_timeout = 0");
    await client.query("SET citus.propagate_set_commands = 'local'");
    await takeMigrationTurn(client, log, limits); // until the connection ends
    const tables = await inSessionTransaction(client, async () => {
      await client.query("SET LOCAL statement_timeout = 0");
      await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
      const { rows } = await client.query<{ name: string }>(undistributedTables);
      if (rows.length > 0) await client.query(distributeStatement);
      return rows;
    });
    await makeOnNodeFunction(client, tables.length > 0);
    return tables.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/**
 * Not in the transaction above: Citus makes functions and fills tables over different connections.
 *
 * @param isRestored whether the function may come from a dump, so that nodes lack it
 */
async function makeOnNodeFunction(client: pg.Client, isRestored: boolean): Promise<void> {
  const read = async (sql: string) => (await client.query<{ isMade: boolean }>(sql)).rows;
  if (!isRestored && (await hasOnNodeFunction(read))) return;
  await inSessionTransaction(client, async () => {
    for (const statement of onNodeStatements) await client.query(statement);
  });
}

/** Undefined without Citus. */
export async function findUndistributedTables(db: Database): Promise<readonly string[] | undefined> {
  if (!(await hasCitus(db))) return undefined;
  const tables = await db.$queryRawUnsafe<{ name: string }[]>(undistributedTables);
  return tables.map(({ name }) => name);
}

/** @throws {AppError} BAD_REQUEST without Citus */
export async function requireCitus(db: Database): Promise<void> {
  if (!(await hasCitus(db))) throw withoutCitus();
}

export function withoutCitus(): AppError {
  const message =
    "This database has no Citus: there is nothing to distribute over. Run CREATE EXTENSION citus on a server that has it.";
  return new AppError("BAD_REQUEST", message);
}

async function hasCitus(db: Database): Promise<boolean> {
  const [row] = await db.$queryRawUnsafe<[{ isOnCitus: boolean }]>(isOnCitus);
  return row.isOnCitus;
}
