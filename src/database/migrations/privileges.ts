import { AppError } from "../../errors.js";

/** What a role lacks, and how to grant it. */
interface MissingPrivileges {
  readonly problem: string;
  readonly advice: string;
}

/**
 * What the role lacks to create tables in the first schema of its search_path: since PostgreSQL 15, `public` needs a
 * GRANT unless the role owns the database. Undefined where nothing is missing.
 */
export async function missingPrivileges(
  query: <Row>(sql: string) => Promise<readonly Row[]>,
): Promise<MissingPrivileges | undefined> {
  // current_schema() leaves out schemas that the role may not use.
  const [row] = await query<{ allowed: boolean; problem: string; advice: string }>(`
    SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS allowed,
      format('The role %I may not create tables in the schema %I of the database %I.', current_user, name, current_database())
        AS problem,
      format('As its owner or a superuser, run: GRANT USAGE, CREATE ON SCHEMA %I TO %I;', name, current_user) AS advice
    FROM (SELECT coalesce(current_schema(), 'public') AS name) AS target`);
  return row === undefined || row.allowed ? undefined : { problem: row.problem, advice: row.advice };
}

/** @throws {AppError} UNAVAILABLE with the reason and the GRANT */
export async function requirePrivileges(query: <Row>(sql: string) => Promise<readonly Row[]>): Promise<void> {
  const missing = await missingPrivileges(query);
  if (missing === undefined) return;
  throw new AppError("UNAVAILABLE", `${missing.problem} ${missing.advice}`);
}
