import { readConfig } from "../../config.js";
import type { OnProgress } from "../../database/backup/backUp.js";
import { AppError } from "../../errors.js";
import { type Progress, startProgress } from "../terminal/progress.js";

/** DATA_DIR. @throws {AppError} BAD_REQUEST where a PostgreSQL server is used */
export function embeddedFolder(): string {
  const { databaseUrl, dataDir } = readConfig();
  if (databaseUrl === undefined) return dataDir;
  throw new AppError(
    "BAD_REQUEST",
    "DATABASE_URL is set: use pg_dump and pg_restore. This is for the embedded database.",
  );
}

/** Shows the progress in files. @param work may end that before its own end */
export async function withProgress<Result>(
  label: string,
  work: (onProgress: OnProgress, endProgress: () => void) => Promise<Result>,
): Promise<Result> {
  let bar: Progress | undefined;
  const end = () => {
    bar?.stop();
    bar = undefined;
  };
  try {
    const update: OnProgress = ({ bytes, bytesTotal, files }) => {
      bar ??= startProgress({ label, total: bytesTotal, items: "files" });
      bar.update(bytes, files);
    };
    return await work(update, end);
  } finally {
    end();
  }
}
