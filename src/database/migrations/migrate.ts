import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createRequire } from "node:module";
import {
  bindMigrationAwareSqlAdapterFactory,
  isDriverAdapterError,
  type SqlMigrationAwareDriverAdapterFactory,
} from "@prisma/driver-adapter-utils";
import * as bindings from "@prisma/schema-engine-wasm/schema_engine_bg";
import type { SchemaEngine } from "@prisma/schema-engine-wasm/schema_engine_bg";
import type { ClientBase, Pool, PoolConfig } from "pg";
import { PrismaPg } from "@prisma/adapter-pg";
import { socketFolderOf } from "../engine.js";
import { type FileLock, lockFile } from "../embedded/fileLock.js";
import { isOnCitus } from "../citus/nodes.js";
import { appliedMigrations, migrationNames, migrationsFolder } from "./applied.js";
import { openPool } from "../pool.js";
import { changeTables, describedSession, awaitLock, type Try, type LockLimits } from "./tableLocks.js";
import { AppError } from "../../errors.js";

/** TypeScript declares it only in the DOM library. */
declare const WebAssembly: {
  instantiate(module: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

/** The engine only needs the dialect. */
const datamodel = 'datasource db { provider = "postgresql" }';

let loaded: Promise<void> | undefined;

/** Arbitrary, but the same in every version. */
export const migrationLockKey = 7_141_914;

/**
 * Keeps staged rows of imports out of PostgreSQL's log, because an import that a crash interrupts stores nothing. On the embedded
 * engine they must survive, because it stores an accepted import in steps. Citus cannot move unlogged shards.
 */
export const stagedUnlogged = ["StagedProduct", "StagedImport"].map((name) => `ALTER TABLE "${name}" SET UNLOGGED`);

/** Describes this process in other processes' messages. */
const migrating = "another process that migrates or distributes this database";

interface MigrateOptions {
  readonly limits?: LockLimits | undefined;
  readonly folder?: string | undefined;
}

/**
 * Applies pending migrations, one process at a time, each in a transaction.
 *
 * @param log called when it waits for another process
 * @returns the names of those applied now
 * @throws {AppError} UNAVAILABLE if locks were not granted in time
 */
export async function migrate(
  connection: PoolConfig,
  log: (problem: Error) => void,
  options: MigrateOptions = {},
): Promise<readonly string[]> {
  const socketFolder = socketFolderOf(connection);
  if (socketFolder === undefined) return migrateLocked(connection, log, options);
  // Advisory locks mean nothing in the embedded engine's one session.
  const lock = await awaitLock(migrating, () => tryFile(join(socketFolder, "migrate.lock")), log, options);
  try {
    return await migrateLocked(connection, log, options);
  } finally {
    await lock.release();
  }
}

async function tryFile(path: string): Promise<Try<FileLock>> {
  const lock = await lockFile(path);
  return "release" in lock ? { lock } : { holder: `process ${lock.pid}` };
}

async function migrateLocked(
  connection: PoolConfig,
  log: (problem: Error) => void,
  { limits, folder = migrationsFolder }: MigrateOptions,
): Promise<readonly string[]> {
  const { pool, close } = await openSession(connection);
  try {
    await pool.query("SET statement_timeout = 0"); // the role or the database may have a limit
    await takeMigrationTurn(pool, log, limits);
    const adapter = new AtomicPrismaPg(pool);
    const engine = await openSchemaEngine(adapter);
    try {
      return await applyPending(
        { isEmbedded: connection.host !== undefined, pool, adapter, engine },
        folder,
        log,
        limits,
      );
    } finally {
      engine.free();
    }
  } finally {
    await close(); // releases the lock too
  }
}

/** One session, which holds the lock, because a pool replaces its connection after errors. */
async function openSession(connection: PoolConfig): Promise<{ pool: Pool; close: () => Promise<void> }> {
  const { pool } = openPool(
    { application_name: "vitrine", ...connection, max: 1, idleTimeoutMillis: 0 },
    () => undefined,
  );
  try {
    const session = await pool.connect();
    const close = async (): Promise<void> => {
      session.release(true);
      await pool.end();
    };
    return { pool: Object.assign(pool, { query: session.query.bind(session) }), close };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

interface Engine {
  readonly isEmbedded: boolean;
  readonly pool: Pool;
  readonly adapter: AtomicPrismaPg;
  readonly engine: SchemaEngine;
}

async function applyPending(
  { isEmbedded, pool, adapter, engine }: Engine,
  folder: string,
  log: (problem: Error) => void,
  limits?: LockLimits,
): Promise<readonly string[]> {
  const migrations = await readMigrations(folder);
  const { migrationDirectories: all } = migrations;
  const query = async <Row>(sql: string) => (await pool.query(sql)).rows as Row[];
  const finished = await appliedMigrations(query);
  if (all.some(({ path }) => !finished.has(path))) await requirePrivileges(query);
  const applied: string[] = [];
  const isUnlogged = !isEmbedded && !(await query<{ isOnCitus: boolean }>(isOnCitus)).some((row) => row.isOnCitus);
  for (const [index, { path }] of all.entries()) {
    if (finished.has(path)) continue;
    const migrationsList = { ...migrations, migrationDirectories: all.slice(0, index + 1) };
    const apply = async () => {
      adapter.failure = undefined;
      try {
        const names = await engine.applyMigrations({
          migrationsList,
          filters: { externalTables: [], externalEnums: [] },
        });
        if (isUnlogged) for (const sql of stagedUnlogged) await pool.query(sql);
        return names;
      } catch (error) {
        throw withReason(path, error, adapter.failure);
      }
    };
    const { appliedMigrationNames } = await changeTables(pool, `the migration ${path}`, apply, log, limits);
    applied.push(...appliedMigrationNames);
  }
  return applied;
}

/** Until the session ends, no other one may migrate or distribute the database. @throws {AppError} UNAVAILABLE */
export async function takeMigrationTurn(
  session: Pick<ClientBase, "query">,
  log: (problem: Error) => void,
  limits?: LockLimits,
): Promise<void> {
  await awaitLock(migrating, () => trySession(session), log, { limits });
}

/** The holder may be invisible to this role. */
async function trySession(session: Pick<ClientBase, "query">): Promise<Try<true>> {
  const { rows } = await session.query<{ taken: boolean }>("SELECT pg_try_advisory_lock($1) AS taken", [
    migrationLockKey,
  ]);
  if (rows[0]?.taken === true) return { lock: true };
  const holders = await session.query<{ holder: string }>(
    `SELECT ${describedSession} AS holder
     FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'advisory' AND l.granted AND (l.classid, l.objid, l.objsubid) = (0, $1, 1)
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [migrationLockKey],
  );
  return { holder: holders.rows[0]?.holder ?? "it has just ended" };
}

function withReason(path: string, error: unknown, failure: unknown): unknown {
  const reason = failure instanceof Error && isDriverAdapterError(failure) ? failure.cause.originalMessage : undefined;
  if (reason === undefined) return failure ?? error;
  return new Error(`The migration ${path} failed: ${reason}`, { cause: failure });
}

async function readMigrations(folder: string) {
  const names = await migrationNames(folder);
  return {
    baseDir: folder,
    lockfile: {
      path: "migration_lock.toml",
      content: await readFile(join(folder, "migration_lock.toml"), "utf8"),
    },
    shadowDbInitScript: "",
    migrationDirectories: await Promise.all(
      names.map(async (path) => ({
        path,
        migrationFile: {
          path: "migration.sql",
          content: { tag: "ok" as const, value: await readFile(join(folder, path, "migration.sql"), "utf8") },
        },
      })),
    ),
  };
}

/** Runs scripts in savepoints, so that a failed one does not abort the transaction, in which the engine continues. */
class AtomicPrismaPg extends PrismaPg {
  /** The error of the last failed script; the engine reports only its text. */
  failure: unknown;

  override async connect() {
    const adapter = await super.connect();
    const execute = adapter.executeScript.bind(adapter);
    adapter.executeScript = async (script) => {
      await adapter.executeRaw({ sql: "SAVEPOINT script", args: [], argTypes: [] });
      try {
        await execute(script);
      } catch (error) {
        this.failure = error;
        await adapter.executeRaw({ sql: "ROLLBACK TO SAVEPOINT script", args: [], argTypes: [] });
        throw error;
      }
    };
    return adapter;
  }
}

/** Prisma's schema engine without a binary to download. Instantiated by hand, because Node.js cannot import `.wasm`. */
export async function openSchemaEngine(adapter: SqlMigrationAwareDriverAdapterFactory): Promise<bindings.SchemaEngine> {
  loaded ??= load();
  await loaded;
  return bindings.SchemaEngine.new(
    { datamodels: [["schema.prisma", datamodel]] },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(adapter),
  );
}

async function load(): Promise<void> {
  const path = createRequire(import.meta.url)
    .resolve("@prisma/schema-engine-wasm")
    .replace(/schema_engine\.js$/u, "schema_engine_bg.wasm");
  const { instance } = await WebAssembly.instantiate(await readFile(path), {
    "./schema_engine_bg.js": { ...bindings, ...unrefTimers() },
  });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports["__wbindgen_start"] as () => void)();
}

/** Timers of the engine would keep the process alive for 10 seconds. */
function unrefTimers(): object {
  const unref = (callback: () => void, delayMs: number) => setTimeout(callback, delayMs >>> 0).unref();
  const names = Object.keys(bindings).filter((name) => name.startsWith("__wbg_setTimeout_"));
  return Object.fromEntries(names.map((name) => [name, unref]));
}

/** What a role lacks, and how to grant it. */
interface MissingPrivileges {
  readonly problem: string;
  readonly advice: string;
}

/**
 * What the role lacks to create tables in the first schema of its search_path: since PostgreSQL 15, `public` needs a GRANT unless
 * the role owns the database. Undefined if nothing is missing.
 */
export async function missingPrivileges(
  query: <Row>(sql: string) => Promise<readonly Row[]>,
): Promise<MissingPrivileges | undefined> {
  // current_schema() skips schemas that the role may not use.
  const [row] = await query<{ allowed: boolean; problem: string; advice: string }>(`
    SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS allowed,
      format('The role %I may not create tables in the schema %I of the database %I.', current_user, name, current_database())
        AS problem,
      format('As its owner or a superuser, run: GRANT USAGE, CREATE ON SCHEMA %I TO %I;', name, current_user) AS advice
    FROM (SELECT coalesce(current_schema(), 'public') AS name) AS target`);
  return row === undefined || row.allowed ? undefined : { problem: row.problem, advice: row.advice };
}

/** @throws {AppError} UNAVAILABLE with the reason and the GRANT */
async function requirePrivileges(query: <Row>(sql: string) => Promise<readonly Row[]>): Promise<void> {
  const missing = await missingPrivileges(query);
  if (missing === undefined) return;
  throw new AppError("UNAVAILABLE", `${missing.problem} ${missing.advice}`);
}
