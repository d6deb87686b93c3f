import { FairShare } from "../../lib/fairShare.js";
import type { Database, RootDatabase } from "../client.js";
import type { StoreNodes } from "../citus/nodes.js";
import { storeClientOf } from "./caller.js";

export interface ConnectionShares {
  /** One for each statement or transaction. */
  readonly requests: FairShare;
  /** Taken in addition, for work of seconds or longer. */
  readonly longWork: FairShare;
  /** Taken in addition, for reads of many rows. */
  readonly wideReads: FairShare;
}

/** Further callers of one store would wait in vain. */
const waitingOfStoreMax = 10_000;
const longWorkWaitMs = 10_000;
/** Callers are refused this long before a connection would time out. */
const refusalMs = 500;

/** The part of all connections that one node's stores may use, so that those of other nodes keep a quarter. */
const ofNodeMax = 0.75;

interface PoolLimits {
  readonly max: number;
  readonly connectionTimeoutMillis: number;
  /** Where each store is: the stores of one node hold at most three quarters of anything, should it hang. */
  readonly nodeOf?: StoreNodes["nodeOf"] | undefined;
}

const sharesByClient = new WeakMap<object, ConnectionShares>();

/** @param pool of whose connections requests wait as long for their turn as for a connection */
export function createShares(client: RootDatabase, pool: PoolLimits): ConnectionShares {
  const { max: connectionsMax, connectionTimeoutMillis, nodeOf } = pool;
  const waitMs = connectionTimeoutMillis - refusalMs;
  const groupsOf = (places: number) => nodeOf && { of: nodeOf, max: atLeastOne(places * ofNodeMax) };
  const longWork = atLeastOne(connectionsMax / 2);
  const wideReads = atLeastOne(connectionsMax / 4);
  const shares: ConnectionShares = {
    requests: new FairShare({
      places: connectionsMax,
      ofStoreMax: atLeastOne(connectionsMax / 2),
      waitingOfStoreMax,
      waitMs,
      groups: groupsOf(connectionsMax),
      message: "Too many requests of this store use the database. Nothing was changed.",
    }),
    longWork: new FairShare({
      places: longWork,
      ofStoreMax: Math.ceil(longWork / 2),
      waitMs: longWorkWaitMs,
      groups: groupsOf(longWork),
      message: "Too many long imports are under way. Nothing was changed.",
      retryAfterSeconds: 5,
    }),
    wideReads: new FairShare({
      places: wideReads,
      ofStoreMax: atLeastOne(wideReads / 2),
      waitMs,
      groups: groupsOf(wideReads),
      message: "Too many expensive reads are in progress.",
    }),
  };
  sharesByClient.set(client, shares);
  return shares;
}

export function copyShares(wrapper: RootDatabase, shares: ConnectionShares): void {
  sharesByClient.set(wrapper, shares);
}

export function sharesOf(db: Database): ConnectionShares | undefined {
  return sharesByClient.get(storeClientOf(db));
}

/**
 * Runs work that holds a connection for seconds or longer: on at most half of the connections, half of these for one
 * store. Not within a transaction.
 *
 * @throws {AppError} UNAVAILABLE after 10 seconds, or what the work throws
 */
export function asLongWork<Result>(
  db: RootDatabase,
  storeId: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  return sharesOf(db)?.longWork.run(storeId, work, signal) ?? work();
}

/**
 * Runs a read of many rows, on at most a quarter of the connections.
 *
 * @throws {AppError} UNAVAILABLE after 4.5 seconds, or what the read throws
 */
export function asWideRead<Result>(
  db: Database,
  storeId: string,
  read: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  return sharesOf(db)?.wideReads.run(storeId, read, signal) ?? read();
}

function atLeastOne(places: number): number {
  return Math.max(1, Math.floor(places));
}
