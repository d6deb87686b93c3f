import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";
import type { Pool, PoolConfig } from "pg";
import { type FileLock, lockFile } from "./fileLock.js";
import { migrationNames, migrationsFolder } from "./migrations.js";
import { openPool } from "./pool.js";
import { openSchemaEngine } from "./schemaEngine.js";
import { takeTurn, type Try, type TurnLimits } from "./turn.js";

/** Any number, as long as every version of Vitrine uses the same one. */
export const migrationLockKey = 7_141_914;

const what = "migrating or distributing this database";

/**
 * Applies the migrations that the database does not have yet, one process at a time.
 *
 * @param log told who is waited for, when that takes long
 * @returns the names of those applied now
 * @throws {AppError} UNAVAILABLE when another process did not end in time
 */
export async function migrate(
  connection: PoolConfig,
  log: (problem: Error) => void,
  limits?: TurnLimits,
): Promise<readonly string[]> {
  const { host } = connection;
  if (host === undefined) return migrateAlone(connection, log, limits); // PostgreSQL by its URL
  // The embedded engine has one session, in which an advisory lock excludes nobody: there a file beside its socket does.
  const turn = await takeTurn(what, () => tryFile(join(host, "migrate.lock")), log, limits);
  try {
    return await migrateAlone(connection, log, limits);
  } finally {
    await turn.release();
  }
}

async function tryFile(path: string): Promise<Try<FileLock>> {
  const lock = await lockFile(path);
  return "release" in lock ? { turn: lock } : { holder: `process ${lock.pid}` };
}

async function migrateAlone(
  connection: PoolConfig,
  log: (problem: Error) => void,
  limits: TurnLimits | undefined,
): Promise<readonly string[]> {
  // One connection: the lock belongs to the session that takes it.
  const { pool } = openPool(
    { application_name: "vitrine", ...connection, max: 1, idleTimeoutMillis: 0 },
    () => undefined, // the query that needs the connection reports what is wrong with it
  );
  try {
    await pool.query("SET statement_timeout = 0"); // a role or a database may have a limit of its own
    await takeTurn(what, () => trySession(pool), log, limits);
    const engine = await openSchemaEngine(new PrismaPg(pool));
    try {
      const { appliedMigrationNames } = await engine.applyMigrations({
        migrationsList: await readMigrations(),
        filters: { externalTables: [], externalEnums: [] },
      });
      return appliedMigrationNames;
    } catch (error) {
      throw withReason(error);
    } finally {
      engine.free();
      await pool.query("SELECT pg_advisory_unlock($1)", [migrationLockKey]);
    }
  } finally {
    await pool.end();
  }
}

/** Who holds the lock cannot be seen by everybody, and may have just released it. */
async function trySession(pool: Pool): Promise<Try<true>> {
  const { rows } = await pool.query<{ taken: boolean }>("SELECT pg_try_advisory_lock($1) AS taken", [migrationLockKey]);
  if (rows[0]?.taken === true) return { turn: true };
  const holders = await pool.query<{ holder: string }>(
    `SELECT format('session %s of %s from %s since %s', a.pid, coalesce(nullif(a.application_name, ''), 'an unknown program'),
       coalesce(a.client_addr::text, 'the server itself'), a.query_start) AS holder
     FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'advisory' AND l.granted AND (l.classid, l.objid, l.objsubid) = (0, $1, 1)
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [migrationLockKey],
  );
  return { holder: holders.rows[0]?.holder ?? "it has just ended" };
}

/** The schema engine says what the database said among much about itself. */
function withReason(error: unknown): unknown {
  const { message } = error as Partial<Error>;
  const [, reason] = /ERROR: (.+)/u.exec(message ?? "") ?? [];
  const [, name] = /migration_name="(.+?)"/u.exec(message ?? "") ?? [];
  if (reason === undefined || name === undefined) return error;
  return new Error(`The migration ${name} failed: ${reason}`, { cause: error });
}

async function readMigrations() {
  const names = await migrationNames();
  return {
    baseDir: migrationsFolder,
    lockfile: {
      path: "migration_lock.toml",
      content: await readFile(join(migrationsFolder, "migration_lock.toml"), "utf8"),
    },
    shadowDbInitScript: "",
    migrationDirectories: await Promise.all(
      names.map(async (path) => ({
        path,
        migrationFile: {
          path: "migration.sql",
          content: { tag: "ok" as const, value: await readFile(join(migrationsFolder, path, "migration.sql"), "utf8") },
        },
      })),
    ),
  };
}
