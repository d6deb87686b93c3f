import { readConfig } from "../../config.js";
import { AppError } from "../../errors.js";

/** DATA_DIR. @throws {AppError} BAD_REQUEST where a PostgreSQL server is used */
export function embeddedFolder(): string {
  const { databaseUrl, dataDir } = readConfig();
  if (databaseUrl === undefined) return dataDir;
  throw new AppError(
    "BAD_REQUEST",
    "DATABASE_URL is set: use pg_dump and pg_restore. This is for the embedded database.",
  );
}
