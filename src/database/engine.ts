import type { PoolConfig } from "pg";
import type { Database, RootDatabase } from "./client.js";
import type { StoreNodes } from "./citus/nodes.js";

/** PGlite on DATA_DIR. Its clients share one session, so transactions block all other clients, and locks exclude none. */
interface EmbeddedEngine {
  readonly kind: "embedded";
}

/** The server of DATABASE_URL. */
interface ServerEngine {
  /** `citus` once its catalog says that tables are distributed. A store's first statement asks it. */
  readonly kind: "postgres" | "citus";
  /** Undefined once the catalog says that they are not. */
  readonly nodes: StoreNodes | undefined;
}

/** Which kind of database this is, with what only that kind has. Set when it is opened. */
export type Engine = EmbeddedEngine | ServerEngine;

/** The folder of the socket for a connection to the embedded engine; undefined for a server. */
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

/** Registers a client, and those derived from it, for `engineOf`. */
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

/** The nodes of stores, if there may be several. */
export function nodesOf(db: Database): StoreNodes | undefined {
  const engine = engineOf(db);
  return engine.kind === "embedded" ? undefined : engine.nodes;
}
