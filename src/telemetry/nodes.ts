import { Gauge, type Registry } from "prom-client";
import type { PoolConfig } from "pg";
import { type NodeState, readNodeStates } from "../database/citus/nodeStates.js";

const trustMs = 10_000;
/** A primary waits a second for its workers. Later replies are for the next scrape. */
const waitMs = 500;

/** Nodes of Citus are asked at scrapes, at most every ten seconds. Without Citus, they are asked once. */
export function collectNodes(registry: Registry, connection: PoolConfig): void {
  const latest = latestStates(connection);
  const gauge = (name: string, help: string, value: (state: NodeState) => number | undefined) => {
    const made: Gauge<"node"> = new Gauge({
      name,
      help,
      labelNames: ["node"],
      aggregator: "max", // each worker asks all nodes
      registers: [registry],
      collect: async () => {
        const states = await latest();
        made.reset();
        for (const state of states) {
          const of = value(state);
          if (of !== undefined) made.set({ node: state.node }, of);
        }
      },
    });
  };
  gauge("vitrine_citus_node_up", "Whether a node of Citus answers.", ({ found }) => (found === undefined ? 0 : 1));
  gauge("vitrine_citus_node_connections", "Connections to a node of Citus.", ({ found }) => found?.connections);
  gauge(
    "vitrine_citus_node_prepared_transactions",
    "Transactions of a node of Citus that were prepared more than a minute ago.",
    ({ found }) => found?.preparedLong,
  );
  gauge(
    "vitrine_citus_node_idle_replication_slots",
    "Replication slots of moves, on a node of Citus, that nobody reads.",
    ({ found }) => found?.idleSlots,
  );
}

function latestStates(connection: PoolConfig): () => Promise<readonly NodeState[]> {
  let states: readonly NodeState[] = [];
  let readAt = -Infinity;
  let hasNodes = true;
  let reading: Promise<void> | undefined;
  const refresh = async (): Promise<void> => {
    readAt = performance.now();
    try {
      const found = await readNodeStates(connection);
      hasNodes = found !== undefined;
      states = found ?? [];
    } catch {
      states = []; // the database cannot be asked: no node counts as well
    } finally {
      reading = undefined;
    }
  };
  return async () => {
    if (hasNodes && performance.now() - readAt > trustMs) reading ??= refresh();
    if (reading !== undefined)
      await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, waitMs).unref())]);
    return states;
  };
}
