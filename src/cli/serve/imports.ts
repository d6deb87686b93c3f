import { recoverImports } from "../../catalog/import/embedded/recover.js";
import { isMigrated } from "../../database/migrations/applied.js";
import type { OpenDatabase } from "../../database/open.js";
import { startSweep, type Sweep } from "../../lib/sweep.js";

const everyMs = 30_000;

/**
 * Completes or removes imports that killed processes have left in the embedded database: now, when no other process uses
 * it, and from then on those of commands that are killed beside this server.
 *
 * @param log told of problems; it is tried again then
 * @returns the sweep that goes on; undefined where nothing is staged
 */
export async function recoverLeftImports(
  { engine, client }: OpenDatabase,
  log: (problem: Error) => void,
): Promise<Sweep | undefined> {
  if (engine !== "embedded" || !(await isMigrated(client))) return undefined;
  await recoverImports(client, "all");
  return startSweep({
    everyMs,
    work: () => recoverImports(client, "old"),
    onError: (error) => log(error instanceof Error ? error : new Error(String(error))),
  });
}
