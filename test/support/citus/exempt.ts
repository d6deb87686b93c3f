import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { activeNodes, askNode } from "../../../src/database/citus/nodeStates.js";
import { onNodeStatements } from "../../../src/database/citus/onNode.sql.js";
import { distributeStatement, undistributedTables } from "../../../src/database/migrations/distribute.js";
import { stagedUnlogged } from "../../../src/database/migrations/migrate.js";
import { migrationNames, migrationsFolder } from "../../../src/database/migrations/applied.js";
import { isOfTest } from "./recording.js";

/** Prisma's count of all stores, by which a server on the embedded database alone sees whether to make a demo store. */
const countOfStores =
  'SELECT COUNT(*) AS "_count$_all" FROM (SELECT "public"."Store"."id" FROM "public"."Store" WHERE 1=1 OFFSET $1) AS "sub"';

/** How statements begin that look over staged imports of all stores: there are none but in the embedded engine. */
const ofEmbeddedEngine = "/* staged_imports";

/** What maintains the embedded database (src/database/open.ts). */
const ofMaintenance = /^(?:CHECKPOINT$|VACUUM |ANALYZE |SELECT brin_summarize_new_values)/u;

/** How statements begin that make a backup of the embedded database, or look at a restored one. */
const ofBackups = "/* backup */";

/** How statements begin that create an index on a distributed table, which Citus does on all nodes. */
const ofViewerIndex = "/* viewer_index */";

/** How the list of all stores begins, which is for operators. */
const ofOperators = "/* all_stores";

/**
 * Tells the statements that Citus need not take as tables on nodes are used: those of tests, of migrations, which come
 * before their tables are spread, those of Citus' own catalog and functions, and those of the embedded engine alone.
 */
export async function readExempt(): Promise<(sql: string) => boolean> {
  const files = (await migrationNames()).map((name) => join(migrationsFolder, name, "migration.sql"));
  const migrations = await Promise.all(files.map(async (file) => onOneLine(`; ${await readFile(file, "utf8")}`)));
  const ofCitus = [distributeStatement, undistributedTables, activeNodes, askNode, ...onNodeStatements];
  const others = new Set([...ofCitus, ...stagedUnlogged, countOfStores]);
  /** The schema engine sends a file statement by statement, without the semicolons between them. */
  const isPartOf = (statement: string) => migrations.some((text) => text.includes(statement));
  return (sql) =>
    isOfTest(sql) ||
    others.has(sql) ||
    sql.startsWith(ofEmbeddedEngine) ||
    sql.startsWith(ofBackups) ||
    sql.startsWith(ofViewerIndex) ||
    ofMaintenance.test(sql) ||
    sql.startsWith(ofOperators) ||
    sql.startsWith("CREATE TABLE _prisma_migrations (") ||
    isPartOf(onOneLine(`; ${sql};`));
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/gu, " ");
}
