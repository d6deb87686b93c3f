import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import { canRunOnNode } from "./onNode.sql.js";

/** Each node of Citus has the catalog. */
const hasCitus = "to_regclass('pg_dist_partition') IS NOT NULL";

export const isOnCitus = `SELECT ${hasCitus} AS "isOnCitus"`;

interface FoundNodes {
  /** The node of each store. */
  readonly nodes: ReadonlyMap<string, string>;
  readonly runStatements: boolean;
}

/** Undefined for a database that is not distributed. */
export type AskNodes = (storeIds: readonly string[]) => Promise<FoundNodes | undefined>;

/** The nodes of Citus that are known so far. Nothing here waits. */
export interface StoreNodes {
  /** Whether the catalog says so; false until it was asked. */
  readonly areDistributed: () => boolean;
  readonly nodeOf: (storeId: string) => string | undefined;
  /** Whether nodes can run whole statements (storeStatements.ts). */
  readonly runStatements: (storeId: string) => boolean;
}

interface KnownNode {
  readonly node: string | undefined;
  readonly askedAt: number;
}

const storesMax = 10_000;
const storesOfQueryMax = 500;
/** Stores move rarely, and each lookup costs a query. */
const trustMs = 30_000;
const pauseAfterFailureMs = 1_000;
/** The group of stores that were not looked up yet, because all of them might be on a node that hangs. */
const notKnownYet = "not known yet";

/**
 * Looks up the Citus nodes of stores in the background, with one query for all pending lookups.
 *
 * @param onNone is called once the database turns out to have no nodes, and is not to be asked again
 */
export function createStoreNodes(ask: AskNodes, onNone: () => void): StoreNodes {
  const nodes = new NodesOfStores(ask, onNone);
  return {
    areDistributed: () => nodes.hasNodes === true,
    nodeOf: (storeId) => nodes.nodeOf(storeId),
    runStatements: (storeId) => {
      nodes.nodeOf(storeId); // looks it up
      return nodes.runStatements;
    },
  };
}

class NodesOfStores {
  hasNodes: boolean | undefined;
  runStatements = false;
  readonly #known = new LRUCache<string, KnownNode>({ max: storesMax });
  readonly #due = new Set<string>();
  #isAsking = false;

  constructor(
    private readonly ask: AskNodes,
    private readonly onNone: () => void,
  ) {}

  nodeOf(storeId: string): string | undefined {
    if (this.hasNodes === false || storeId === "") return undefined;
    const entry = this.#known.get(storeId);
    if (entry === undefined || performance.now() - entry.askedAt > trustMs) {
      if (this.#due.size < storesMax) this.#due.add(storeId);
      if (!this.#isAsking) void this.#lookUp();
    }
    if (entry !== undefined) return entry.node;
    return this.hasNodes === true ? notKnownYet : undefined;
  }

  async #lookUp(): Promise<void> {
    this.#isAsking = true;
    await new Promise<void>((resolve) => setImmediate(resolve)); // more lookups may follow
    try {
      while (this.#due.size > 0) await this.#askForDue();
      this.#isAsking = false;
    } catch {
      setTimeout(() => (this.#isAsking = false), pauseAfterFailureMs).unref();
    }
  }

  async #askForDue(): Promise<void> {
    const storeIds = [...this.#due].slice(0, storesOfQueryMax);
    const askedAt = performance.now();
    const found = await this.ask(storeIds);
    this.hasNodes = found !== undefined;
    this.runStatements = found?.runStatements === true;
    for (const storeId of storeIds) {
      this.#known.set(storeId, { node: found?.nodes.get(storeId), askedAt });
      this.#due.delete(storeId);
    }
    if (this.hasNodes) return;
    this.#due.clear();
    this.onNone();
  }
}

const statementsOfNodes = `SELECT ${hasCitus} AS "isOnCitus", ${canRunOnNode} AS "runStatements"`;
/** Reads the catalogs of Citus, which each node has. Returns nothing before the tables are distributed. */
const nodesOfStores = `
  SELECT s.id, CASE WHEN
    (SELECT count(*) FROM pg_dist_node WHERE shouldhaveshards AND isactive AND noderole = 'primary') > 1
    THEN p.groupid::text END AS node
  FROM unnest($1::text[]) AS s(id), pg_dist_placement AS p
  WHERE EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = '"Store"'::regclass)
    AND p.shardid = get_shard_id_for_distribution_column('"Store"', s.id)`;

/** Asks the catalog of Citus. If one node has all stores, it returns none, because they need no groups. */
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
