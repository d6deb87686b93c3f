import type { PoolConfig } from "pg";
import type { Database, RootDatabase } from "./client.js";
import type { StoreNodes } from "./citus/nodes.js";

/** PGlite on DATA_DIR. Its clients share one session: transactions block all others, and locks exclude no client. */
interface EmbeddedEngine {
  readonly kind: "embedded";
}

/** The server of DATABASE_URL. */
interface ServerEngine {
  /** `citus` once its catalog says that tables are distributed, which is asked with the first statement of a store. */
  readonly kind: "postgres" | "citus";
  /** Undefined once the catalog says that they are not. */
  readonly nodes: StoreNodes | undefined;
}

/** Which database this is, and what only that kind has: chosen where it is opened, and asked for by name. */
export type Engine = EmbeddedEngine | ServerEngine;

/** The folder of the socket where a connection is to the embedded engine; undefined for a server, which has a URL. */
export function socketFolderOf({ host }: PoolConfig): string | undefined {
  return host;
}

/** @param createNodes calls its argument once it knows that tables are not distributed */
export function serverEngine(createNodes: (onNone: () => void) => StoreNodes): ServerEngine {
  let nodes: StoreNodes | undefined = createNodes(() => (nodes = undefined));
  return {
    get kind() {
      return nodes?.areDistributed() === true ? "citus" : "postgres";
    },
    get nodes() {
      return nodes;
    },
  };
}

const engineKey = Symbol("engine");
const enginesByTransaction = new WeakMap<Database, Engine>();

interface WithEngine {
  readonly [engineKey]?: Engine;
}

/** Lets `engineOf` know a client, and those that are made of it. */
export function setEngine(client: RootDatabase, engine: Engine): void {
  Object.defineProperty(client, engineKey, { value: engine });
}

export function setEngineOfTransaction(transaction: Database, db: RootDatabase): void {
  enginesByTransaction.set(transaction, engineOf(db));
}

/** @param db any client of an open database, or a transaction of `inTransaction` */
export function engineOf(db: Database): Engine {
  const engine = (db as WithEngine)[engineKey] ?? enginesByTransaction.get(db);
  if (engine === undefined) throw new TypeError("This client does not belong to an open database.");
  return engine;
}

/** The nodes of stores, where there may be several. */
export function nodesOf(db: Database): StoreNodes | undefined {
  const engine = engineOf(db);
  return engine.kind === "embedded" ? undefined : engine.nodes;
}
