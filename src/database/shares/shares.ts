import { FairShare } from "../../lib/fairShare.js";
import type { Database, RootDatabase } from "../client.js";

/** How the connections of a pool are shared among stores. */
export interface ConnectionShares {
  /** What a request holds while a statement or transaction of it runs. */
  readonly requests: FairShare;
  /** What work that takes seconds or longer holds in addition, so that the connections left are free for requests. */
  readonly longWork: FairShare;
  /** What reads hold in addition that take many rows together. */
  readonly wideReads: FairShare;
}

/** Callers of one store that may wait for a connection: more than that, and a wait of 5 seconds would be in vain. */
const waitingOfStoreMax = 10_000;
const longWorkWaitMs = 10_000;

/** Wrappers of a client share what it shares. */
const sharesByClient = new WeakMap<object, ConnectionShares>();

/** Has the connections of a client shared: from now on `forStore` gives clients that hold to it. */
export function shareConnections(client: RootDatabase, connectionsMax: number): ConnectionShares {
  const longWork = atLeastOne(connectionsMax / 2);
  const wideReads = atLeastOne(connectionsMax / 4);
  const shares: ConnectionShares = {
    requests: new FairShare({
      places: connectionsMax,
      ofStoreMax: atLeastOne(connectionsMax / 2),
      waitingOfStoreMax,
      message: "Too many requests of this store use the database. Nothing was changed.",
    }),
    longWork: new FairShare({
      places: longWork,
      ofStoreMax: Math.ceil(longWork / 2),
      waitMs: longWorkWaitMs,
      message: "Too many long imports are under way. Nothing was changed.",
      retryAfterSeconds: 5,
    }),
    wideReads: new FairShare({
      places: wideReads,
      ofStoreMax: atLeastOne(wideReads / 2),
      message: "Too many reads of whole time lines are under way.",
    }),
  };
  sharesByClient.set(client, shares);
  return shares;
}

/** Notes that a wrapper uses the connections of a client. */
export function shareAlike(wrapper: RootDatabase, shares: ConnectionShares): void {
  sharesByClient.set(wrapper, shares);
}

/** The shares of a client or of a wrapper of it. Undefined for a client whose connections are not shared. */
export function sharesOf(db: Database): ConnectionShares | undefined {
  return sharesByClient.get(db);
}

/**
 * Runs work that holds a connection for seconds or longer, once it has a turn. Such work of all stores together takes at most
 * half of the connections, that of one store at most half of these. It must not be begun within a transaction.
 *
 * @param signal aborted when the caller has gone: then a turn is no longer waited for
 * @throws {AppError} UNAVAILABLE after waiting for 10 seconds in vain, or what the work throws
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
 * Runs a read that takes many rows together, likewise: of all stores together at most a quarter of the connections.
 *
 * @throws {AppError} UNAVAILABLE after waiting for 5 seconds in vain, or what the read throws
 */
export function asWideRead<Result>(
  db: RootDatabase,
  storeId: string,
  read: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  return sharesOf(db)?.wideReads.run(storeId, read, signal) ?? read();
}

function atLeastOne(places: number): number {
  return Math.max(1, Math.floor(places));
}
