import { LRUCache } from "lru-cache";
import { cachedWith } from "../../lib/cached.js";
import { FairShare } from "../../lib/fairShare.js";
import { Prisma } from "../../generated/prisma/client.js";
import type { Database, RootDatabase } from "../client.js";
import { type Caller, callerOf, storeClientOf } from "./caller.js";
import type { StoreNodes } from "../citus/nodes.js";

const clientsMax = 10_000;
/** No store has this id. */
const tokenLookups = "";

const statements = ["$queryRaw", "$executeRaw", "$queryRawUnsafe", "$executeRawUnsafe", "$transaction"] as const;
const models = Object.values(Prisma.ModelName).map((name) => `${name.charAt(0).toLowerCase()}${name.slice(1)}`);
const storeKey = Symbol("storeId");
const rootKey = Symbol("root");

interface OfStore {
  readonly [storeKey]: string;
}
type Send = (...args: unknown[]) => Promise<unknown>;
type MakeClient = (storeId: string) => RootDatabase;

/**
 * A client that limits a store's requests to half of the connections: each statement, or transaction as a whole, waits for one
 * of them. Do not use it within its own transaction: it would wait for a second connection. Cached. Calls throw UNAVAILABLE
 * after 4.5 seconds.
 */
export function forStore(db: RootDatabase, storeId: string): RootDatabase {
  return cachedWith(db, "clients", () => clientMaker(db))(storeId);
}

/** The client that a store's client was made of; any other client, or a transaction, itself. What is kept by database is kept by it. */
export function rootOf<Client extends Database>(db: Client): Client {
  return (db as { readonly [rootKey]?: Client })[rootKey] ?? db;
}

/**
 * One value for each database, whichever of its clients asks.
 *
 * @param make makes it at the first call
 */
export function keptByDatabase<Value extends object>(make: () => Value): (db: Database) => Value {
  const values = new WeakMap<Database, Value>();
  return (db) => {
    const root = rootOf(db);
    let value = values.get(root);
    if (value === undefined) values.set(root, (value = make()));
    return value;
  };
}

/** A client for lookups of tokens, which have a share of their own: no store delays them. */
export function forTokenLookups(db: RootDatabase): RootDatabase {
  return forStore(db, tokenLookups);
}

function clientMaker(client: RootDatabase): MakeClient {
  const shares = sharesOf(client);
  if (shares === undefined) return () => client;
  const members = { ...sharedMembers(client, shares.requests), [rootKey]: { value: client } };
  const prototype = Object.create(client, members) as RootDatabase;
  const memoMethod = (storeId: string): RootDatabase => {
    const ofStore = Object.create(prototype, { [storeKey]: { value: storeId } }) as RootDatabase;
    copyShares(ofStore, shares);
    return ofStore;
  };
  const clients = new LRUCache<string, RootDatabase>({ max: clientsMax, memoMethod });
  return (storeId) => clients.memo(storeId);
}

function sharedMembers(client: RootDatabase, share: FairShare): PropertyDescriptorMap {
  const members: PropertyDescriptorMap = {};
  // In its place, since it may have waited for it longer than a confirmation is good for.
  const run = (db: OfStore & RootDatabase, work: (caller: Caller | undefined) => Promise<unknown>) =>
    share.run(db[storeKey], async () => {
      const caller = callerOf(db);
      await caller?.confirm(client);
      return work(caller);
    });
  for (const name of statements) {
    const send = client[name].bind(client) as Send;
    members[name] = {
      value(this: OfStore & RootDatabase, ...args: unknown[]) {
        return run(this, (caller) =>
          send(...(caller && name === "$transaction" ? confirmedAtEnd(args, caller) : args)),
        );
      },
    };
  }
  for (const name of models) {
    const model = Reflect.get(client, name) as object;
    members[name] = {
      get(this: OfStore & RootDatabase) {
        return sharedModel(model, (send) => run(this, send));
      },
    };
  }
  return members;
}

/** A transaction that is rolled back where the caller may no longer write at its end. */
function confirmedAtEnd([work, ...options]: unknown[], caller: Caller): unknown[] {
  if (typeof work !== "function") return [work, ...options];
  const confirmed = async (transaction: Database): Promise<unknown> => {
    const result: unknown = await (work as (transaction: Database) => unknown)(transaction);
    await caller.confirm(transaction);
    return result;
  };
  return [confirmed, ...options];
}

function sharedModel(model: object, run: (send: () => Promise<unknown>) => Promise<unknown>): object {
  return new Proxy(model, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => run(() => Reflect.apply(value as Send, target, args));
    },
  });
}

interface ConnectionShares {
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

function copyShares(wrapper: RootDatabase, shares: ConnectionShares): void {
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
