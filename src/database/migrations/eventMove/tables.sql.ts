import { createHash, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { queueOnShard } from "./citus.sql.js";

/** The migration that this folder carries out in small steps. */
export const smallEventRows = "20261122161720_small_event_rows";

/** Written by the previous version. LiveStream comes first, as in its transactions. */
const oldTables = `"LiveStream", "ShopperEvent", "LiveStreamViewer", "LiveStreamCartViewer", "LiveStreamPresence"`;

export interface MigrationParts {
  readonly tables: readonly string[];
  /** Adds columns that the previous version does not notice. */
  readonly columns: readonly string[];
  /** Drops old tables, and requires what new ones need. */
  readonly contract: readonly string[];
  /** The file's checksum, as Prisma stores it. */
  readonly checksum: string;
}

export async function readParts(folder: string): Promise<MigrationParts> {
  const file = await readFile(join(folder, smallEventRows, "migration.sql"), "utf8");
  const statements = file
    .replaceAll(/^--.*$/gmu, "")
    .split(/;\s*$/mu)
    .map((statement) => statement.trim());
  const beginningWith = (...beginnings: string[]) =>
    statements.filter((statement) => beginnings.some((beginning) => statement.startsWith(beginning)));
  return {
    tables: beginningWith("CREATE TABLE"),
    columns: beginningWith('ALTER TABLE "LiveStream" ADD'),
    contract: beginningWith('ALTER TABLE "LiveStream" ALTER', "CREATE UNIQUE INDEX", "DROP TABLE"),
    checksum: createHash("sha256").update(file).digest("hex"),
  };
}

export const hasManyEvents = `
  SELECT (SELECT count(*) FROM (SELECT 1 AS one FROM "ShopperEvent" LIMIT $1) AS e) = $1::bigint AS "hasMany"`;

export const hasBegun = `SELECT to_regclass('"EventMove"') IS NOT NULL AS "hasBegun"`;

/**
 * Tables of the move itself. `EventMove` has a row for each show with a number:
 *
 * - `copying`: events up to the id `after` are copied.
 * - `copied`: all are, except those in the queue.
 * - `verified`: they were also compared with the old ones.
 * - `discarded`: its copies must be removed, since the show was pruned, deleted or differed.
 * - `left`: the show is pruned, and not copied.
 *
 * `EventMoveQueue` has the events that the previous version records meanwhile. Its trigger runs once for each statement, for
 * speed, and as its owner, since that version may connect with another role.
 */
export const moveTables: readonly string[] = [
  `CREATE TABLE "EventMove" ("storeId" TEXT COLLATE "C" NOT NULL, "show" INTEGER NOT NULL, "state" TEXT NOT NULL,
     "after" TEXT COLLATE "C" NOT NULL, "events" BIGINT NOT NULL, PRIMARY KEY ("storeId", "show"))`,
  `CREATE TABLE "EventMoveQueue" ("storeId" TEXT COLLATE "C" NOT NULL, "liveStreamId" TEXT COLLATE "C" NOT NULL,
     "id" TEXT COLLATE "C" NOT NULL)`,
];

const queueBeside = `
  BEGIN
    INSERT INTO "EventMoveQueue" SELECT "storeId", "liveStreamId", "id" FROM added;
    RETURN NULL;
  END`;

/** @param schema that of the tables, quoted */
export function queueFunction(schema: string, onShards: boolean): string {
  // A server connected to a node of Citus writes to shards there, where the default refuses others.
  return `CREATE FUNCTION "queueMovedEvents"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, ${schema}, pg_temp ${onShards ? "SET citus.enable_manual_changes_to_shards = on" : ""}
    AS $$${onShards ? queueOnShard : queueBeside} $$`;
}

export const createTrigger = `
  CREATE OR REPLACE TRIGGER "EventMove" AFTER INSERT ON "ShopperEvent" REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION "queueMovedEvents"()`;

/** A row where the trigger is there. Citus adds a number to its name on shards. */
export const hasTrigger = `
  SELECT 1 AS one FROM pg_trigger WHERE tgrelid = '"ShopperEvent"'::regclass AND tgname LIKE 'EventMove%' AND tgenabled <> 'D'`;

/**
 * Excludes all others from the old tables. The second and third change nothing, but also lock the shards of Citus. LiveStream
 * comes first, as in recording.
 */
export const lockOldTables: readonly string[] = [
  `LOCK TABLE ${oldTables} IN ACCESS EXCLUSIVE MODE`,
  `ALTER TABLE "LiveStream" ALTER COLUMN "storeId" SET NOT NULL`,
  `ALTER TABLE "ShopperEvent" ALTER COLUMN "storeId" SET NOT NULL`,
];

export const dropMoveTables: readonly string[] = [
  `DROP TABLE "EventMove", "EventMoveQueue"`,
  `DROP FUNCTION "queueMovedEvents"() CASCADE`, // Citus keeps shards that were moved away for a while, with their triggers
];

/** What Prisma writes for a migration that it has applied. */
export function recordMigration(checksum: string): { readonly text: string; readonly values: string[] } {
  return {
    text: `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
           VALUES ($1, $2, $3, now(), now(), 1)`,
    values: [randomUUID(), checksum, smallEventRows],
  };
}
