import { Prisma } from "../../generated/prisma/client.js";
import { AppError } from "../../errors.js";
import type { Database, RootDatabase } from "../client.js";

/** On whose behalf something is written: the holder of an access token or a public key. */
export interface Caller {
  /** Of the token or key. */
  readonly id: string;
  /** Tells their store from a later one with its id. */
  readonly storeCreatedAt: Date;
  /**
   * Asked before each statement and at the end of each transaction.
   *
   * @param db for a lookup, on a connection that the caller holds
   * @throws {AppError} UNAUTHENTICATED once the token or key is revoked or has expired, or its store was deleted
   */
  confirm(db: Database): Promise<unknown>;
}

const callerKey = Symbol("caller");
const storeClientKey = Symbol("storeClient");
const callersByTransaction = new WeakMap<Database, Caller>();

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

/** Of a client of onBehalfOf, or of a transaction of it. Undefined for operators and the service itself. */
export function callerOf(db: Database): Caller | undefined {
  return callersByTransaction.get(db) ?? (db as OfCaller)[callerKey];
}

/** The work of a transaction, which is rolled back where the caller may no longer write at its end. */
export function whileConfirmed(work: unknown, caller: Caller): unknown {
  if (typeof work !== "function") return work;
  return async (transaction: Database): Promise<unknown> => {
    callersByTransaction.set(transaction, caller);
    const result: unknown = await (work as (transaction: Database) => unknown)(transaction);
    await caller.confirm(transaction);
    return result;
  };
}

/** In a WHERE, with "Store" as `o`: whether it is the caller's store, and not a later one with its id. */
export function isCallersStore(db: Database, storeId: string): Prisma.Sql {
  return isCreatedAt(Prisma.sql`${storeId}`, Prisma.sql`${storeCreatedAtOf(db)}`);
}

function isCreatedAt(storeId: Prisma.Sql, createdAt: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`o.id = ${storeId} AND o."createdAt" = coalesce(${createdAt}::timestamptz, o."createdAt")`;
}

/** The same as a condition of statements that do not read "Store". */
export function isOfCallersStore(db: Database, storeId: string): Prisma.Sql {
  return isStoreOf(Prisma.sql`${storeId}`, Prisma.sql`${storeCreatedAtOf(db)}`);
}

/** The same for a statement whose text is kept. @param createdAt of storeCreatedAtOf */
export function isStoreOf(storeId: Prisma.Sql, createdAt: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`EXISTS (SELECT FROM "Store" AS o WHERE ${isCreatedAt(storeId, createdAt)})`;
}

/** When the caller's store was created; null where there is no caller. */
export function storeCreatedAtOf(db: Database): Date | null {
  return callerOf(db)?.storeCreatedAt ?? null;
}

/** @throws {AppError} UNAUTHENTICATED where the caller's store was deleted */
export async function requireCallersStore(db: Database, storeId: string): Promise<void> {
  const [row] = await db.$queryRaw<{ isThere: boolean }[]>`
    SELECT true AS "isThere" FROM "Store" AS o WHERE ${isCallersStore(db, storeId)}`;
  if (row === undefined) throw storeGone();
}

export function storeGone(): AppError {
  return new AppError("UNAUTHENTICATED", "The store of this access token was deleted.");
}

/** Why a request failed: what it did not find, or referred to, may have been deleted with its store. */
export async function reasonOf(error: unknown, db: RootDatabase, storeId: string): Promise<unknown> {
  if (error instanceof AppError && !error.code.endsWith("NOT_FOUND")) return error;
  try {
    await requireCallersStore(db, storeId);
    return error;
  } catch (reason) {
    return reason instanceof AppError && reason.code === "UNAUTHENTICATED" ? reason : error;
  }
}
