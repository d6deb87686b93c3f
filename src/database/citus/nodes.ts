import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import { hasCitus } from "./catalog.sql.js";
import { canRunOnNode } from "./onNode.sql.js";

interface FoundNodes {
  /** Each store's. */
  readonly nodes: ReadonlyMap<string, string>;
  readonly runStatements: boolean;
}

/** Undefined for a database that is not distributed. */
export type AskNodes = (storeIds: readonly string[]) => Promise<FoundNodes | undefined>;

/** The nodes of Citus, as far as they are known: nothing here waits. */
export interface StoreNodes {
  /** Whether the catalog says so, as far as it was asked. */
  readonly areDistributed: () => boolean;
  readonly nodeOf: (storeId: string) => string | undefined;
  /** Whether nodes can run whole statements (onNode.ts). */
  readonly runStatements: (storeId: string) => boolean;
}

interface KnownNode {
  readonly node: string | undefined;
  readonly askedAt: number;
}

const storesMax = 10_000;
const storesOfQueryMax = 500;
/** Stores are moved rarely, and a node that is looked up anew costs a query. */
const trustMs = 30_000;
const pauseAfterFailureMs = 1_000;
/** Stores that were not looked up yet: they might all be on a node that hangs. */
const notKnownYet = "not known yet";

/**
 * Looks up the Citus nodes of stores in the background, pending lookups by one query.
 *
 * @param onNone is called once the database turns out to have no nodes, and is not to be asked again
 */
export function createStoreNodes(ask: AskNodes, onNone: () => void): StoreNodes {
  const known = new LRUCache<string, KnownNode>({ max: storesMax });
  const due = new Set<string>();
  let hasNodes: boolean | undefined;
  let runStatements = false;
  let isAsking = false;

  const askForDue = async (): Promise<void> => {
    const storeIds = [...due].slice(0, storesOfQueryMax);
    const askedAt = performance.now();
    const found = await ask(storeIds);
    hasNodes = found !== undefined;
    runStatements = found?.runStatements === true;
    for (const storeId of storeIds) {
      known.set(storeId, { node: found?.nodes.get(storeId), askedAt });
      due.delete(storeId);
    }
    if (hasNodes) return;
    due.clear();
    onNone();
  };
  const lookUp = async (): Promise<void> => {
    isAsking = true;
    await new Promise<void>((resolve) => setImmediate(resolve)); // more may come up
    try {
      while (due.size > 0) await askForDue();
      isAsking = false;
    } catch {
      setTimeout(() => (isAsking = false), pauseAfterFailureMs).unref();
    }
  };

  const nodeOf = (storeId: string): string | undefined => {
    if (hasNodes === false || storeId === "") return undefined;
    const entry = known.get(storeId);
    if (entry === undefined || performance.now() - entry.askedAt > trustMs) {
      if (due.size < storesMax) due.add(storeId);
      if (!isAsking) void lookUp();
    }
    if (entry !== undefined) return entry.node;
    return hasNodes === true ? notKnownYet : undefined;
  };
  const canRunStatements = (storeId: string): boolean => {
    nodeOf(storeId); // looks it up
    return runStatements;
  };
  return { areDistributed: () => hasNodes === true, nodeOf, runStatements: canRunStatements };
}

const statementsOfNodes = `SELECT ${hasCitus} AS "isOnCitus", ${canRunOnNode} AS "runStatements"`;
/** Reads catalogs of Citus, which each node has. It finds nothing before the tables are distributed. */
const nodesOfStores = `
  SELECT s.id, CASE WHEN
    (SELECT count(*) FROM pg_dist_node WHERE shouldhaveshards AND isactive AND noderole = 'primary') > 1
    THEN p.groupid::text END AS node
  FROM unnest($1::text[]) AS s(id), pg_dist_placement AS p
  WHERE EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = '"Store"'::regclass)
    AND p.shardid = get_shard_id_for_distribution_column('"Store"', s.id)`;

/** Asks the catalog of Citus. Where one node has all stores, they have none: they need no groups. */
export function askCitus(pool: Pool): AskNodes {
  return async (storeIds) => {
    const { rows } = await pool.query<{ isOnCitus: boolean; runStatements: boolean }>(statementsOfNodes);
    if (rows[0]?.isOnCitus !== true) return undefined;
    const found = await pool.query<{ id: string; node: string | null }>(nodesOfStores, [storeIds]);
    const nodes = new Map<string, string>();
    for (const { id, node } of found.rows) if (node !== null) nodes.set(id, node);
    return { nodes, runStatements: rows[0].runStatements && found.rows.length > 0 };
  };
}
