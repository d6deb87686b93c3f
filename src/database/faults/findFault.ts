import { Prisma } from "../../generated/prisma/client.js";
import type { Fault } from "../databaseErrors.js";
import { pendingMigrationsBy } from "../migrations/applied.js";

/** What keeps a session from reading and writing the tables. */
export interface Finding {
  readonly fault: Fault;
  readonly problem: string;
  readonly advice: string;
}

type Query = <Row>(sql: string) => Promise<readonly Row[]>;

/**
 * Asks the server whether this role may write, without writing. Undefined if it may.
 */
export async function findFault(query: Query): Promise<Finding | undefined> {
  return (
    (await findReadOnly(query)) ??
    (await findClosedSchema(query)) ??
    (await findClosedTables(query)) ??
    (await findPending(query)) ??
    (await findMissingTables(query))
  );
}

const setting = "default_transaction_read_only";

async function findReadOnly(query: Query): Promise<Finding | undefined> {
  // Every transaction of a standby is read-only, whatever the setting.
  const [row] = await query<{ isReadOnly: boolean; isStandby: boolean }>(
    `SELECT current_setting('transaction_read_only')::bool AS "isReadOnly", pg_is_in_recovery() AS "isStandby"`,
  );
  if (row?.isReadOnly !== true) return undefined;
  const fault = "read-only";
  if (row.isStandby) {
    const advice = "Set DATABASE_URL to the primary or, if it is gone, run as a superuser: SELECT pg_promote();";
    return { fault, problem: "The server is a standby, which is read-only.", advice };
  }
  const [set] = await query<{ source: string; statement: string }>(`
    SELECT source, CASE
        WHEN source = 'user' THEN format('ALTER ROLE %I RESET ${setting};', session_user)
        WHEN source = 'database' THEN format('ALTER DATABASE %I RESET ${setting};', current_database())
        WHEN source = 'database user' THEN format('ALTER ROLE %I IN DATABASE %I RESET ${setting};', session_user, current_database())
        WHEN source = 'global' THEN 'ALTER ROLE ALL RESET ${setting};'
        ELSE 'ALTER SYSTEM SET ${setting} = off; SELECT pg_reload_conf();'
      END AS statement
    FROM pg_settings WHERE name = '${setting}'`);
  const advice =
    set?.source === "client"
      ? `Remove ${setting} from the options of DATABASE_URL.`
      : `As a superuser, run: ${set?.statement ?? ""}`;
  return { fault, problem: `Sessions are read-only by the setting ${setting}.`, advice };
}

/** PostgreSQL silently skips a schema of the search_path that the role may not use. */
async function findClosedSchema(query: Query): Promise<Finding | undefined> {
  const [row] = await query<{ problem: string; advice: string }>(`
    SELECT format('The role %I may not use the schema %I.', current_user, nspname) AS problem,
      format('As its owner or a superuser, run: GRANT USAGE ON SCHEMA %I TO %I;', nspname, current_user) AS advice
    FROM pg_namespace
    WHERE quote_ident(nspname) = ANY (string_to_array(
        replace(current_setting('search_path'), '"$user"', quote_ident(current_user)), ', '))
      AND NOT has_schema_privilege(oid, 'USAGE')
    LIMIT 1`);
  return row && { fault: "privileges missing", ...row };
}

/** A finding if migrations are pending. */
export async function findPending(query: Query): Promise<Finding | undefined> {
  const pending = await pendingMigrationsBy(query);
  if (pending.length === 0) return undefined;
  const problem = `Migrations are not applied: ${pending.join(", ")}.`;
  return { fault: "not migrated", problem, advice: "Run npx vitrine migrate." };
}

const privileges = "SELECT, INSERT, UPDATE, DELETE";
const listedMax = 4;

/** All tables, as elements of an array literal. */
const tables = Object.values(Prisma.ModelName).join();

/** Long imports need TEMPORARY on the database too. */
async function findClosedTables(query: Query): Promise<Finding | undefined> {
  const lacks = await query<{ lack: string; advice: string }>(`
    SELECT format('%s on %I', privilege, name) AS lack, format(
        'As the owner of the tables or a superuser, run: GRANT ${privileges} ON ALL TABLES IN SCHEMA %I TO %I;',
        current_schema(), current_user) AS advice
    FROM (
      SELECT name, privilege FROM unnest('{${tables}}'::text[]) AS name, unnest('{${privileges}}'::text[]) AS privilege
      UNION ALL VALUES ('_prisma_migrations', 'SELECT')
    ) AS needed
    WHERE NOT has_table_privilege(to_regclass(quote_ident(name)), privilege)
    UNION ALL
    SELECT format('TEMPORARY on %I', current_database()), format(
        'As the owner of the database or a superuser, run: GRANT TEMPORARY ON DATABASE %I TO %I;',
        current_database(), current_user)
    WHERE NOT has_database_privilege(current_database(), 'TEMPORARY')`);
  const [first] = lacks;
  if (first === undefined) return undefined;
  const problem = `The role lacks ${listed(lacks.map(({ lack }) => lack))}.`;
  return { fault: "privileges missing", problem, advice: first.advice };
}

/** Tables that were dropped by mistake. */
async function findMissingTables(query: Query): Promise<Finding | undefined> {
  const missing = await query<{ name: string }>(
    `SELECT name FROM unnest('{${tables}}'::text[]) AS name WHERE to_regclass(quote_ident(name)) IS NULL`,
  );
  if (missing.length === 0) return undefined;
  const names = listed(missing.map(({ name }) => name));
  const problem = `Tables are missing although all migrations are applied: ${names}.`;
  return { fault: "not migrated", problem, advice: "Restore them from a backup." };
}

function listed(names: readonly string[]): string {
  const more = names.length - listedMax;
  return `${names.slice(0, listedMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
