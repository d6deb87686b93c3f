import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PrismaPg } from "@prisma/adapter-pg";
import type { PoolConfig } from "pg";
import { type FileLock, lockFile } from "./fileLock.js";
import { migrationNames, migrationsFolder } from "./migrations.js";
import { openPool } from "./pool.js";
import { openSchemaEngine } from "./schemaEngine.js";

/** Any number, as long as every version of Vitrine uses the same one. */
export const migrationLockKey = 7_141_914;

/**
 * Applies the migrations that the database does not have yet, one process at a time.
 *
 * @returns the names of those applied now
 */
export async function migrate(connection: PoolConfig): Promise<readonly string[]> {
  const turn = await takeTurn(connection);
  try {
    return await migrateAlone(connection);
  } finally {
    await turn?.release();
  }
}

/** The embedded engine has one session, in which an advisory lock excludes nobody: there a file beside its socket does. */
async function takeTurn({ host }: PoolConfig): Promise<FileLock | undefined> {
  if (host === undefined) return undefined; // PostgreSQL by its URL
  for (;;) {
    const lock = await lockFile(join(host, "migrate.lock"));
    if ("release" in lock) return lock;
    await sleep(50);
  }
}

async function migrateAlone(connection: PoolConfig): Promise<readonly string[]> {
  // One connection: the lock belongs to the session that takes it. No statement limit: others may be migrating.
  const { pool } = openPool({ ...connection, max: 1, idleTimeoutMillis: 0 }, () => undefined);
  pool.on("error", () => undefined); // the query that needs the connection reports it
  try {
    await pool.query("SELECT pg_advisory_lock($1)", [migrationLockKey]);
    const engine = await openSchemaEngine(new PrismaPg(pool));
    try {
      const { appliedMigrationNames } = await engine.applyMigrations({
        migrationsList: await readMigrations(),
        filters: { externalTables: [], externalEnums: [] },
      });
      return appliedMigrationNames;
    } finally {
      engine.free();
      await pool.query("SELECT pg_advisory_unlock($1)", [migrationLockKey]);
    }
  } finally {
    await pool.end();
  }
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
