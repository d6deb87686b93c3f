import pg from "pg";
import { faultOf, serverMessageOf, sqlStateOf } from "../../database/errors.js";
import { reasonOf } from "../terminal/reason.js";

/** Why nothing of the database of a URL could be read, and what to do. */
export function describeRefusal(error: unknown, databaseUrl: string): readonly [detail: string, advice: string] {
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

/** Quoted only where PostgreSQL needs it. */
function quoted(name: string): string {
  return /^[a-z_][a-z\d_]*$/u.test(name) ? name : pg.escapeIdentifier(name);
}
