import pg, { type PoolConfig } from "pg";
import { AppError } from "../../errors.js";
import type { Database } from "../client.js";
import { isOnCitus } from "../citus/nodes.js";
import { hasOnNodeFunction, onNodeStatements } from "../citus/onNode.sql.js";
import { inSessionTransaction, type LockLimits } from "./tableLocks.js";
import { takeMigrationTurn } from "./migrate.js";

const connectTimeoutMs = 5_000;
/** The longest wait for each lock on a table. */
const lockTimeoutMs = 60_000;

/**
 * Distributes a migrated Citus database over its nodes, all or nothing; idempotent.
 *
 * @param log called when it waits for another process
 * @returns the tables distributed now
 * @throws {AppError} UNAVAILABLE if another process migrates or distributes for too long
 */
export async function distribute(
  connection: PoolConfig,
  log: (problem: Error) => void,
  limits?: LockLimits,
): Promise<readonly string[]> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: connectTimeoutMs });
  client.on("error", () => undefined);
  await client.connect();
  try {
    // Moving rows may exceed time limits of the role, here and on each node.
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
 * Not in the transaction above, because Citus creates functions and fills tables over different connections.
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

/**
 * Copied to each node: they are looked up before the store is known, and a server that is connected to a node reads there whether
 * it may start.
 */
const referenceTables = `'AccessToken', 'PublicKey', 'Hook', '_prisma_migrations'`;

/** Store comes first, because the others are co-located with it. */
export const undistributedTables = `
  SELECT c.relname::text AS name FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
    AND NOT EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid)
    AND (c.relname IN ('Store', ${referenceTables}) OR EXISTS (
      SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'storeId' AND NOT a.attisdropped))
  ORDER BY c.relname <> 'Store', c.relname`;

/**
 * Distributes tables by store. Foreign keys between distributed and other tables are impossible, so they are dropped first, and
 * added and checked at the end. Tables become logged, because Citus cannot move unlogged shards. Lists are collected first,
 * because no cursor may be open on tables that change.
 */
export const distributeStatement = `DO $distribute$
DECLARE
  targets text[];
  taken text[];
  back text[];
  target text;
  command text;
BEGIN
  targets := ARRAY(${undistributedTables});

  SELECT array_agg(format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) ORDER BY conname),
    array_agg(format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
      ORDER BY conname)
  INTO taken, back
  FROM pg_constraint
  WHERE contype = 'f' AND EXISTS (
    SELECT FROM unnest(targets) AS name WHERE format('%I', name)::regclass IN (conrelid, confrelid));

  FOREACH command IN ARRAY coalesce(taken, '{}') LOOP
    EXECUTE command;
  END LOOP;

  FOREACH target IN ARRAY targets LOOP
    IF (SELECT relpersistence = 'u' FROM pg_class WHERE oid = format('%I', target)::regclass) THEN
      EXECUTE format('ALTER TABLE %I SET LOGGED', target);
    END IF;
    IF target IN (${referenceTables}) THEN
      PERFORM create_reference_table(format('%I', target)::regclass);
    ELSIF target = 'Store' THEN
      PERFORM create_distributed_table(format('%I', target)::regclass, 'id', colocate_with => 'none');
    ELSE
      PERFORM create_distributed_table(format('%I', target)::regclass, 'storeId', colocate_with => '"Store"');
    END IF;
  END LOOP;

  FOREACH command IN ARRAY coalesce(back, '{}') LOOP
    EXECUTE command;
  END LOOP;
END
$distribute$`;
