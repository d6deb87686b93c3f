import { AppError } from "../../errors.js";
import type { Database, RootDatabase } from "../client.js";

/** On whose behalf something is written: the holder of an access token, a public key or a hook. */
export interface Caller {
  /** Of the token, key or hook. */
  readonly id: string;
  /**
   * Asked by forStore once a statement or transaction has its place, after which it waits no more, and before each commit.
   *
   * @param db for a lookup, on a connection that the caller holds
   * @throws {AppError} UNAUTHENTICATED once the token, key or hook is revoked, has expired, or was deleted with its store
   */
  confirm(db: Database): Promise<unknown>;
}

const callerKey = Symbol("caller");
const storeClientKey = Symbol("storeClient");

interface OfCaller {
  readonly [callerKey]?: Caller;
  readonly [storeClientKey]?: RootDatabase;
}

/**
 * A client whose statements, and transactions as a whole, are sent only while the caller may write.
 *
 * @param db of forStore
 */
export function onBehalfOf(db: RootDatabase, caller: Caller): RootDatabase {
  return Object.create(db, { [callerKey]: { value: caller }, [storeClientKey]: { value: db } }) as RootDatabase;
}

/** Of a client of onBehalfOf that of its store, for what outlasts the request or is shared by several; any other client itself. */
export function storeClientOf<Client extends Database>(db: Client): Client {
  return ((db as OfCaller)[storeClientKey] as Client | undefined) ?? db;
}

/** Of a client of onBehalfOf. Undefined for operators and the service itself. */
export function callerOf(db: RootDatabase): Caller | undefined {
  return (db as OfCaller)[callerKey];
}

/** Why a request failed: what it did not find may have been deleted with its store. @param confirm as of its caller */
export async function reasonOf(error: unknown, confirm: () => Promise<unknown>): Promise<unknown> {
  if (error instanceof AppError && !error.code.endsWith("NOT_FOUND")) return error;
  const hasEnded = (reason: unknown) => reason instanceof AppError && reason.code === "UNAUTHENTICATED";
  return confirm().then(
    () => error,
    (reason: unknown) => (hasEnded(reason) ? reason : error),
  );
}

/** Of work that finds no row of its store. */
export function storeGone(): AppError {
  return new AppError("UNAUTHENTICATED", "The store of this access token was deleted.");
}
