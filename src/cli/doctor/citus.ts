import type { PoolConfig } from "pg";
import { type NodeFindings, type NodeState, readNodeStates } from "../../database/citus/nodeStates.js";
import { hasOnNodeFunction } from "../../database/citus/onNode.sql.js";
import type { RootDatabase } from "../../database/client.js";
import { findUndistributedTables } from "../../database/migrations/distribute.js";
import { type Check, failed, ok, warning } from "./check.js";

const distributeAdvice = "Run npx vitrine distribute.";

/** Nothing without Citus. */
export async function checkCitus(db: RootDatabase, connection: PoolConfig): Promise<readonly Check[]> {
  const tables = await findUndistributedTables(db);
  if (tables === undefined) return [];
  const states = (await readNodeStates(connection)) ?? [];
  return [await checkDistribution(db, tables), ...states.map(checkNode)];
}

/** Tables of a later migration stay on the coordinator, unnoticed until that is full. */
async function checkDistribution(db: RootDatabase, tables: readonly string[]): Promise<Check> {
  if (tables.length > 0) return warning("citus", `on the coordinator alone: ${tables.join(", ")}`, distributeAdvice);
  const isMade = await hasOnNodeFunction((sql) => db.$queryRawUnsafe(sql));
  if (isMade) return ok("citus", "all tables are spread over its nodes");
  return warning("citus", "all tables are spread, but nodes cannot run whole statements", distributeAdvice);
}

export function checkNode({ node, found }: NodeState): Check {
  const name = `node ${node}`;
  if (found === undefined) {
    return failed(
      name,
      "cannot be reached, or does not answer",
      "Start it: requests of its stores are refused meanwhile.",
    );
  }
  const { connections, connectionsMax } = found;
  const detail = `${connections} of ${connectionsMax} connections are used`;
  const problem = problemOf(found);
  return problem === undefined ? ok(name, detail) : warning(name, `${detail}; ${problem[0]}`, problem[1]);
}

function problemOf(found: NodeFindings): readonly [problem: string, advice: string] | undefined {
  const { connections, connectionsMax, preparedLong, preparedMax, idleSlots, hasJit } = found;
  if (preparedLong > 0) {
    const problem = `transactions prepared for more than a minute, which keep their locks: ${preparedLong}`;
    return [problem, "Run SELECT recover_prepared_transactions() on the coordinator, which Citus does each minute."];
  }
  if (preparedMax === 0) return ["max_prepared_transactions is 0", "Set it to max_connections at least, and restart."];
  if (connections > connectionsMax * 0.9)
    return ["these are nearly all", "Raise max_connections, or lower DATABASE_POOL_MAX."];
  if (idleSlots > 0) {
    const problem = `inactive replication slots of shard moves, which retain WAL: ${idleSlots}`;
    return [problem, "If no move is under way, run SELECT citus_cleanup_orphaned_resources(), or drop them."];
  }
  return hasJit ? ["jit is on", "Set jit = off: compiling takes longer than statements run."] : undefined;
}
