import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config.js";
import type { RootDatabase } from "../../database/client.js";
import { DamagedDatabaseError } from "../../database/embedded/engineFailure.js";
import { findHolder } from "../../database/embedded/folder.js";
import { findFault } from "../../database/faults/findFault.js";
import { isKnownMigrated, pendingMigrations } from "../../database/migrations/applied.js";
import { missingPrivileges } from "../../database/migrations/migrate.js";
import { type OpenDatabase, openDatabase } from "../../database/open.js";
import { type Check, failed, ok, warning } from "./doctorCheck.js";
import { reasonOf } from "../terminal/failure.js";
import pg, { type PoolConfig } from "pg";
import { faultOf, serverMessageOf, sqlStateOf } from "../../database/databaseErrors.js";
import { type NodeFindings, type NodeState, readNodeStates } from "../../database/citus/nodeStates.js";
import { hasOnNodeFunction } from "../../database/citus/onNode.sql.js";
import { findUndistributedTables } from "../../database/migrations/distribute.js";

interface DatabaseFindings {
  readonly checks: readonly Check[];
  /** The clocks of the database's machine and of this one. Undefined if it is the same machine or cannot be reached. */
  readonly now?: { readonly theirs: Date; readonly ours: Date };
}

/** PostgreSQL 15, as server_version_num. */
const versionMin = 150_000;

/** Unlike other commands, neither creates a database nor applies migrations. */
export async function checkDatabase(config: Config): Promise<DatabaseFindings> {
  const { databaseUrl, dataDir } = config;
  const isEmbedded = databaseUrl === undefined;
  if (isEmbedded && !existsSync(join(dataDir, "postgres"))) {
    return { checks: [ok("database", `there is no database in ${dataDir} yet; npx vitrine serve creates it`)] };
  }
  try {
    const holder = isEmbedded ? await findHolder(dataDir) : undefined;
    const database = await openDatabase(config, "shared", () => undefined);
    try {
      const { client } = database;
      if (!isEmbedded) return await examineServer(database, config);
      const where = holder === undefined ? dataDir : `${dataDir}, held by process ${holder.pid},`;
      return {
        checks: [ok("database", `the embedded one in ${where} answers`), ...(await checkMigrations(client, config))],
      };
    } finally {
      await database.close();
    }
  } catch (error) {
    const [detail, advice] = isEmbedded ? describeProblem(error, dataDir) : describeRefusal(error, databaseUrl);
    return { checks: [failed("database", detail, advice)] };
  }
}

function describeProblem(error: unknown, dataDir: string): readonly [detail: string, advice: string] {
  if (error instanceof DamagedDatabaseError) return [error.problem, error.advice];
  return [reasonOf(error), `Stop the process that uses ${dataDir}, or look at what is wrong with the folder.`];
}

async function examineServer({ client: db, connection }: OpenDatabase, config: Config): Promise<DatabaseFindings> {
  const asked = Date.now();
  const [server] = await db.$queryRaw<[{ version: string; number: number; max: number; now: Date }]>`
    SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS max,
      clock_timestamp() AS now`;
  const tookMs = Date.now() - asked;
  const detail = `PostgreSQL ${server.version} answers within ${tookMs} ms`;
  return {
    checks: [
      server.number >= versionMin ? ok("database", detail) : failed("database", detail, "Use PostgreSQL 15 or later."),
      checkConnections(server.max, config),
      ...(await checkTables(db, config)),
      ...(await checkCitus(db, connection)),
    ],
    now: { theirs: server.now, ours: new Date(asked + tookMs / 2) },
  };
}

type ConnectionConfig = Pick<Config, "webConcurrency" | "databasePoolMax" | "redisUrl">;

/** @param available connections that the server allows, without those reserved for superusers */
export function checkConnections(available: number, config: ConnectionConfig): Check {
  const needed = connectionsNeeded(config);
  const detail = `${needed} of the server's ${available} connections may be used by one \`vitrine serve\``;
  return needed < available
    ? ok("connections", detail)
    : warning("connections", detail, "Lower DATABASE_POOL_MAX or WEB_CONCURRENCY, or raise max_connections.");
}

/** Each process has its pool, and connections for `/readyz`, the watchdog and, without Redis, live updates. */
function connectionsNeeded({ webConcurrency, databasePoolMax, redisUrl }: ConnectionConfig): number {
  return webConcurrency * (databasePoolMax + (redisUrl === undefined ? 3 : 2));
}

async function checkMigrations(db: RootDatabase, { autoMigrate }: Config): Promise<readonly Check[]> {
  const pending = await pendingMigrations(db);
  if (pending.length === 0) return [ok("migrations", "all are applied")];
  const detail = `not applied yet: ${pending.join(", ")}`;
  const migrations = autoMigrate
    ? warning("migrations", detail, "npx vitrine serve applies them at its start; npx vitrine migrate does it now.")
    : failed("migrations", detail, "Run npx vitrine migrate: AUTO_MIGRATE is false.");
  const missing = await missingPrivileges((sql) => db.$queryRawUnsafe(sql));
  if (missing === undefined) return [migrations];
  return [migrations, failed("privileges", missing.problem, missing.advice)];
}

/** Migrations, and whether all tables can be read and written. */
async function checkTables(db: RootDatabase, config: Config): Promise<readonly Check[]> {
  const finding = await findFault((sql) => db.$queryRawUnsafe(sql));
  const access =
    finding === undefined
      ? ok("access", "all tables can be read and written")
      : failed("access", finding.problem, finding.advice);
  if (finding?.fault === "privileges missing") return [access]; // the table of migrations may be unreadable, too
  const isPending = finding?.fault === "not migrated" && !isKnownMigrated();
  return [...(await checkMigrations(db, config)), ...(isPending ? [] : [access])];
}

/** Why nothing could be read from the database of DATABASE_URL, and what to do. */
function describeRefusal(error: unknown, databaseUrl: string): readonly [detail: string, advice: string] {
  if (faultOf(error) === undefined) {
    return [reasonOf(error), "Start PostgreSQL, or correct DATABASE_URL (host, port, user, password, database)."];
  }
  const { user = "", database = "" } = new pg.Client({ connectionString: databaseUrl });
  return [serverMessageOf(error) ?? reasonOf(error), adviceFor(sqlStateOf(error), quoted(user), quoted(database))];
}

function adviceFor(state: string | undefined, role: string, database: string): string {
  switch (state) {
    case "28000":
      return `Run as a superuser: ALTER ROLE ${role} LOGIN; or allow this machine in pg_hba.conf, or correct DATABASE_URL.`;
    case "3D000":
      return `Correct DATABASE_URL, or run as a superuser: CREATE DATABASE ${database} OWNER ${role}; and restore a backup.`;
    case "42501":
      return `Run as the owner of the database: GRANT CONNECT ON DATABASE ${database} TO ${role};`;
    case "55000":
      return `Run as a superuser: ALTER DATABASE ${database} ALLOW_CONNECTIONS true;`;
    default:
      return `Correct DATABASE_URL (user, password, sslmode), or run as a superuser: ALTER ROLE ${role} PASSWORD '…';`;
  }
}

/** Quotes an identifier only if PostgreSQL needs it. */
function quoted(name: string): string {
  return /^[a-z_][a-z\d_]*$/u.test(name) ? name : pg.escapeIdentifier(name);
}

const distributeAdvice = "Run npx vitrine distribute.";

/** Empty if the database has no Citus. */
async function checkCitus(db: RootDatabase, connection: PoolConfig): Promise<readonly Check[]> {
  const tables = await findUndistributedTables(db);
  if (tables === undefined) return [];
  const states = (await readNodeStates(connection)) ?? [];
  return [await checkDistribution(db, tables), ...states.map(checkCitusNode)];
}

/** Tables that a later migration creates stay on the coordinator, and nobody notices until its disk is full. */
async function checkDistribution(db: RootDatabase, tables: readonly string[]): Promise<Check> {
  if (tables.length > 0) return warning("citus", `on the coordinator alone: ${tables.join(", ")}`, distributeAdvice);
  const isMade = await hasOnNodeFunction((sql) => db.$queryRawUnsafe(sql));
  if (isMade) return ok("citus", "all tables are spread over its nodes");
  return warning("citus", "all tables are spread, but nodes cannot run whole statements", distributeAdvice);
}

export function checkCitusNode({ node, found }: NodeState): Check {
  const name = `node ${node}`;
  if (found === undefined) {
    return failed(
      name,
      "cannot be reached, or does not answer",
      "Start it: until then, requests of its stores are refused.",
    );
  }
  const { connections, connectionsMax } = found;
  const detail = `${connections} of ${connectionsMax} connections are used`;
  const problem = problemOfNode(found);
  return problem === undefined ? ok(name, detail) : warning(name, `${detail}; ${problem[0]}`, problem[1]);
}

function problemOfNode(found: NodeFindings): readonly [problem: string, advice: string] | undefined {
  const { connections, connectionsMax, preparedLong, preparedMax, idleSlots, hasJit } = found;
  if (preparedLong > 0) {
    const problem = `transactions that were prepared over a minute ago and still hold locks: ${preparedLong}`;
    return [
      problem,
      "Citus should end them each minute: run SELECT recover_prepared_transactions() on the coordinator.",
    ];
  }
  if (preparedMax === 0) return ["max_prepared_transactions is 0", "Set it to at least max_connections, and restart."];
  if (connections > connectionsMax * 0.9)
    return ["these are nearly all", "Raise max_connections, or lower DATABASE_POOL_MAX."];
  if (idleSlots > 0) {
    const problem = `inactive replication slots of shard moves retain WAL: ${idleSlots}`;
    return [problem, "If no shard is being moved, run SELECT citus_cleanup_orphaned_resources(), or drop the slots."];
  }
  return hasJit ? ["jit is on", "Set jit = off: compiling our statements takes longer than running them."] : undefined;
}
