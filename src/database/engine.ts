import type { PoolConfig } from "pg";
import type { Database } from "./client.js";
import type { StoreNodes } from "./citus/nodes.js";
import { rootOf } from "./shares/forStore.js";

/** PGlite on DATA_DIR. Its clients share one session: transactions block all others, and locks exclude no client. */
interface EmbeddedEngine {
  readonly kind: "embedded";
  /** The folder of the socket over which it is reached. */
  readonly socketFolder: string;
  /** Whether this process runs it. */
  readonly isOwn: boolean;
}

/** The server of DATABASE_URL. */
interface ServerEngine {
  /** `citus` once its catalog says that tables are distributed, which is asked with the first statement of a store. */
  readonly kind: "postgres" | "citus";
  readonly nodes: StoreNodes;
}

/** Which database this is, and what only that kind has: chosen where it is opened, and asked for by name. */
export type Engine = EmbeddedEngine | ServerEngine;

/** The folder of the socket where a connection is to the embedded engine; undefined for a server, which has a URL. */
export function socketFolderOf({ host }: PoolConfig): string | undefined {
  return host;
}

export function serverEngine(nodes: StoreNodes): ServerEngine {
  return {
    get kind() {
      return nodes.areDistributed() ? "citus" : "postgres";
    },
    nodes,
  };
}

const engines = new WeakMap<Database, Engine>();

/** Lets `engineOf` know a client, or a transaction of it. */
export function setEngine(db: Database, engine: Engine): void {
  engines.set(db, engine);
}

/** @param db any client or transaction of an open database */
export function engineOf(db: Database): Engine {
  const engine = engines.get(db) ?? engines.get(rootOf(db));
  if (engine === undefined) throw new TypeError("This client does not belong to an open database.");
  return engine;
}

/** The nodes of stores, where there may be several. */
export function nodesOf(db: Database): StoreNodes | undefined {
  const engine = engineOf(db);
  return engine.kind === "embedded" ? undefined : engine.nodes;
}
