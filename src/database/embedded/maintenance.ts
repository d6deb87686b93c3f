import { Prisma } from "../../generated/prisma/client.js";
import { startSweep, type Sweep } from "../../lib/sweep.js";
import type { RootDatabase } from "../client.js";

const everyMs = 1_000;
/** Of the log since the last checkpoint. Recovery replays no more than what is written until the next round. */
const logBytesMax = 32 * 1024 * 1024;

/**
 * Does what PostgreSQL's checkpointer and autovacuum do, which the embedded engine does not have. No request waits for a whole round: each
 * statement is short, since the next one comes soon after.
 */
export function startMaintenance(db: RootDatabase, log: (problem: Error) => void): Sweep {
  const onError = (cause: unknown): void =>
    log(new Error("The embedded database could not be maintained; retrying later", { cause }));
  return startSweep({ everyMs, onError, work: (signal) => maintain(db, signal) });
}

async function maintain(db: RootDatabase, signal: AbortSignal): Promise<void> {
  for (const statement of await dueStatements(db)) {
    if (signal.aborted) return;
    await db.$executeRaw(Prisma.raw(statement));
  }
}

/**
 * Of tables with more dead or changed rows than a twentieth or fifth of the living ones. After a crash the engine has lost its counts: a
 * table that it holds to be empty is counted anew.
 */
async function dueStatements(db: RootDatabase): Promise<readonly string[]> {
  const due = await db.$queryRaw<{ statement: string }[]>`/* maintenance */
    SELECT 'CHECKPOINT' AS statement FROM pg_control_checkpoint()
    WHERE pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) > ${logBytesMax}
    UNION ALL
    SELECT format('VACUUM %I', relname) FROM pg_stat_user_tables
    WHERE n_dead_tup > 1000 + n_live_tup / 20 OR (n_live_tup = 0 AND n_dead_tup = 0 AND pg_relation_size(relid) > 0)
    UNION ALL
    SELECT format('ANALYZE %I', relname) FROM pg_stat_user_tables WHERE n_mod_since_analyze > 1000 + n_live_tup / 5`;
  return due.map(({ statement }) => statement);
}
