import pg, { type Pool, type PoolConfig } from "pg";
import { openConnections } from "../pool.js";
import { isOnCitus } from "./nodes.js";

export interface NodeState {
  /** host:port, as Citus knows it. */
  readonly node: string;
  /** Undefined if the node cannot be reached or does not answer. */
  readonly found: NodeFindings | undefined;
}

export interface NodeFindings {
  /** Connections of clients, which include other nodes. */
  readonly connections: number;
  readonly connectionsMax: number;
  /** Transactions that were prepared more than a minute ago: they keep their locks until Citus recovers them. */
  readonly preparedLong: number;
  /** If 0, rows that more than one node has cannot be written. */
  readonly preparedMax: number;
  /** Replication slots of moves that nobody reads. The node keeps all of its log for them. */
  readonly idleSlots: number;
  readonly hasJit: boolean;
}

const answerTimeoutMs = 3_000;
const closeTimeoutMs = 1_000;
/** Works only on Citus. */
export const activeNodes =
  "SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE isactive AND noderole = 'primary' ORDER BY groupid";
const findings = `
  SELECT json_build_object(
    'connections', (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
    'connectionsMax', current_setting('max_connections')::int,
    'preparedLong', (SELECT count(*) FROM pg_prepared_xacts WHERE prepared < now() - interval '1 minute'),
    'preparedMax', current_setting('max_prepared_transactions')::int,
    'idleSlots', (SELECT count(*) FROM pg_replication_slots WHERE slot_name LIKE 'citus%' AND NOT active),
    'hasJit', current_setting('jit')::bool)`;
/** Works only on Citus. The coordinator asks the node, so this machine need not reach it. */
export const askNode =
  "SELECT success, result FROM master_run_on_worker(ARRAY[$1::text], ARRAY[$2::int], ARRAY[$3::text], false)";

/**
 * Asks each node over a separate connection, which gives up after 3 seconds.
 *
 * @returns undefined for a database without Citus
 */
export async function readNodeStates(
  connection: PoolConfig,
  timeoutMs = answerTimeoutMs,
): Promise<readonly NodeState[] | undefined> {
  const limits = { statement_timeout: timeoutMs, query_timeout: timeoutMs + closeTimeoutMs };
  const { pool, destroyAll } = openConnections({ ...connection, ...limits, max: 2 }, () => undefined);
  try {
    const { rows } = await pool.query<{ isOnCitus: boolean }>(isOnCitus);
    if (rows[0]?.isOnCitus !== true) return undefined;
    const nodes = await pool.query<{ host: string; port: number }>(activeNodes);
    return await Promise.all(nodes.rows.map((node) => stateOf(pool, node)));
  } finally {
    const timer = setTimeout(destroyAll, closeTimeoutMs);
    await pool.end();
    clearTimeout(timer);
  }
}

async function stateOf(pool: Pool, { host, port }: { host: string; port: number }): Promise<NodeState> {
  const node = `${host}:${port}`;
  try {
    const { rows } = await pool.query<{ success: boolean; result: string }>(askNode, [host, port, findings]);
    const [row] = rows;
    return { node, found: row?.success === true ? (JSON.parse(row.result) as NodeFindings) : undefined };
  } catch (error) {
    if (isOwnFault(error)) throw error;
    return { node, found: undefined };
  }
}

/** An error such as a missing privilege, which says nothing about the node. */
function isOwnFault(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code?.startsWith("42") === true;
}
