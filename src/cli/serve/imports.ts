import { recoverImports } from "../../catalog/import/staging/recover.js";
import { isMigrated } from "../../database/migrations/applied.js";
import type { OpenDatabase } from "../../database/open.js";
import { startSweep, type Sweep } from "../../lib/sweep.js";

const everyMs = 30_000;

/**
 * Completes or removes imports that killed processes left in the embedded database: all at once now, and from then on those of
 * commands that are killed while this server runs.
 *
 * @param log called with problems, which are retried
 * @returns the running sweep; undefined on PostgreSQL, which stages nothing
 */
export async function recoverInterruptedImports(
  { engine, client }: OpenDatabase,
  log: (problem: Error) => void,
): Promise<Sweep | undefined> {
  if (engine.kind !== "embedded" || !(await isMigrated(client))) return undefined;
  await recoverImports(client, "all");
  return startSweep({
    everyMs,
    work: () => recoverImports(client, "old"),
    onError: (error) => log(error instanceof Error ? error : new Error(String(error))),
  });
}
