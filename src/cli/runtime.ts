import { requireStore } from "../stores/store.js";
import { openRelay } from "../figures/feed/feed.database.js";
import type { FeedRelay } from "../figures/feed/feed.relay.js";
import { type Config, readConfig } from "../config.js";
import {
  faultOf,
  notMigrated,
  serverMessageOf,
  mayBeNodeOutage,
  unreachableNodeOf,
} from "../database/databaseErrors.js";
import type { RootDatabase } from "../database/client.js";
import { DamagedDatabaseError } from "../database/embedded/engineFailure.js";
import { foldersOf } from "../database/embedded/folder.js";
import { migrate } from "../database/migrations/migrate.js";
import { pendingMigrations } from "../database/migrations/applied.js";
import { type OpenDatabase, openDatabase } from "../database/open.js";
import { AppError } from "../errors.js";
import { count } from "../lib/text.js";
import { printError } from "./terminal/output.js";
import type { PoolConfig } from "pg";
import { readNodeStates } from "../database/citus/nodeStates.js";

/** Runs a command on the configured database, after pending migrations unless AUTO_MIGRATE is false. */
export async function withDatabase<Result>(
  work: (db: RootDatabase, config: Config, database: OpenDatabase) => Promise<Result>,
): Promise<Result> {
  return withOpenDatabase(async (database, config) => {
    await migrateIfNeeded(database, config, warn, (problem) => {
      throw problem;
    });
    try {
      return await work(database.client, config, database);
    } catch (error) {
      throw database.engine.kind === "embedded" ? error : await withUnreachableNodes(error, database.connection);
    }
  });
}

/** Like withDatabase, for an existing store. @throws {AppError} NOT_FOUND */
export function withStore<Result>(
  store: string,
  work: (db: RootDatabase, config: Config, database: OpenDatabase) => Promise<Result>,
): Promise<Result> {
  return withDatabase(async (db, config, database) => {
    await requireStore(db, store);
    return work(db, config, database);
  });
}

/** Runs a command on the configured database without migrating it. */
export async function withOpenDatabase<Result>(
  work: (database: OpenDatabase, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig();
  const database = await openDatabase(config, "shared", warn);
  try {
    return await work(database, config);
  } catch (error) {
    throw withFolder(error, database, config);
  } finally {
    await database.close();
  }
}

/** Adds the folder to an error that means that files of the embedded database are damaged. Returns others unchanged. */
export function withFolder(error: unknown, { engine }: OpenDatabase, { dataDir }: Config): unknown {
  if (engine.kind !== "embedded" || faultOf(error) !== "damaged") return error;
  return new DamagedDatabaseError(foldersOf(dataDir).database, serverMessageOf(error) ?? "", { cause: error });
}

/** Runs work that changes shows. It gets a function that notifies running servers of a show, for live subscriptions. */
export async function withRelay<Result>(
  database: OpenDatabase,
  config: Config,
  work: (changed: FeedRelay["send"]) => Promise<Result>,
): Promise<Result> {
  const relay = await openRelay(database, config, warn);
  try {
    return await work((store, lsId) => relay.send(store, lsId));
  } finally {
    await relay.close();
  }
}

export function liveStreams({ length }: readonly unknown[]): string {
  return count(length, "live stream");
}

/**
 * Applies pending migrations unless AUTO_MIGRATE is false. If none are pending, this takes two queries.
 *
 * @param log called with what the migration waits for
 * @param onForbidden called when migrations are pending and AUTO_MIGRATE is false; `log` by default
 */
export async function migrateIfNeeded(
  database: OpenDatabase,
  config: Config,
  log: (problem: Error) => void,
  onForbidden = log,
): Promise<void> {
  const { length: pending } = await pendingMigrations(database.client);
  if (pending === 0) return;
  if (config.autoMigrate) {
    await migrate(database.connection, log);
    await pendingMigrations(database.client); // records that none are pending, so that they no longer explain errors
  } else onForbidden(new AppError("UNAVAILABLE", `${notMigrated} AUTO_MIGRATE is false.`));
}

/** Prints a problem that does not stop the command. */
export function warn(problem: Error): void {
  printError(`vitrine: ${problem.message}`);
}

/**
 * If unreachable nodes of Citus may have caused an error, replaces it with one that names them, because a node that
 * hangs only causes a timeout. Takes at most 4 seconds.
 *
 * @returns the error to report
 */
export async function withUnreachableNodes(failure: unknown, connection: PoolConfig): Promise<unknown> {
  if (!mayBeNodeOutage(failure) || unreachableNodeOf(failure) !== undefined) return failure;
  const states = await readNodeStates(connection).catch(() => undefined);
  const lost = (states ?? []).filter(({ found }) => found === undefined).map(({ node }) => node);
  if (lost.length === 0) return failure;
  const message =
    lost.length === 1
      ? `The Citus node ${lost[0]} does not answer. The command may need it.`
      : `The Citus nodes ${lost.join(", ")} do not answer. The command may need them.`;
  return new AppError("UNAVAILABLE", message, { cause: failure });
}
