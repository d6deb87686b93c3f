import { type LockCatalog, withCatalog } from "../database/catalogLock.js";
import { withShowLock } from "../database/showLock.js";
import { deletePage, type PageEnd, storeTables } from "../database/storeTables.js";
import type { Database, RootDatabase } from "../database/client.js";
import { inTransaction } from "../database/transaction.js";
import { Prisma } from "../generated/prisma/client.js";
import { findStore, type StoreSummary } from "./store.js";

export interface StoreContents {
  readonly products: number;
  readonly sites: number;
  readonly liveStreams: number;
  readonly tokens: number;
  readonly keys: number;
}

/** Tokens and keys stop working within 5 seconds in every process. */
const tokensEndMs = 5_000;
const batchRows = 5_000;
const timeoutMs = 120_000;

/** @throws {AppError} NOT_FOUND */
export async function describeStore(db: Database, storeId: string): Promise<StoreSummary & StoreContents> {
  const store = await findStore(db, storeId);
  const where = { storeId };
  return {
    ...store,
    products: await db.product.count({ where }),
    sites: await db.site.count({ where }),
    liveStreams: await db.liveStream.count({ where }),
    tokens: await db.accessToken.count({ where }),
    keys: await db.publicKey.count({ where }),
  };
}

/**
 * Deletes a store: first its tokens and public keys, so that nothing more is written, then its data. If a call is interrupted,
 * another one completes it.
 *
 * @param waitMs until its tokens and keys have stopped working
 * @returns what it had
 * @throws {AppError} NOT_FOUND, or UNAVAILABLE if its shows or its catalog stay locked
 */
export async function deleteStore(
  db: RootDatabase,
  storeId: string,
  waitMs = tokensEndMs,
): Promise<{ store: string } & StoreContents> {
  const {
    name: _,
    currency: _currency,
    timeZone: _zone,
    createdAt: _at,
    ...contents
  } = await describeStore(db, storeId);
  const where = { storeId };
  const endCallers = async () => {
    await db.accessToken.deleteMany({ where });
    await db.publicKey.deleteMany({ where });
    await db.hook.deleteMany({ where });
  };
  await endCallers();
  await new Promise((resolve) => setTimeout(resolve, waitMs)); // also in a repeated call, which may follow their deletion immediately
  await deleteShows(db, storeId);
  if (contents.products > batchRows) await refreshStatistics(db);
  for (let after: string | undefined = ""; after !== undefined;) after = await deleteProducts(db, storeId, after);
  for (const table of storeTables) await deleteTable(db, storeId, table);
  await db.site.deleteMany({ where });
  await endCallers(); // those issued since then
  await deleteRest(db, storeId);
  return contents;
}

/** Afterwards nothing can be recorded for the shows or rebuild them, because both lock the row of the show. */
async function deleteShows(db: RootDatabase, storeId: string): Promise<void> {
  const where = { storeId };
  for (const { id } of await db.liveStream.findMany({ where, select: { id: true } })) {
    const lock = { storeId, lsId: id, timeoutMs };
    await withShowLock(db, lock, (transaction) => transaction.liveStream.deleteMany({ where: { storeId, id } }));
  }
}

async function deleteTable(db: RootDatabase, storeId: string, table: (typeof storeTables)[number]): Promise<void> {
  let after: PageEnd | undefined;
  do ({ last: after } = await deletePage(db, { table, storeId, after, rowsMax: batchRows }));
  while (after !== undefined);
}

/** A command's import, which needs no token, ends before this or fails. So a later store with this id begins empty. */
function deleteRest(db: RootDatabase, storeId: string): Promise<void> {
  return alone(db, storeId, (lock) =>
    inTransaction(db, { timeoutMs }, async (transaction) => {
      await lock(transaction, "long");
      await transaction.idempotencyKey.deleteMany({ where: { storeId } });
      await transaction.product.deleteMany({ where: { storeId } });
      await transaction.store.deleteMany({ where: { id: storeId } });
    }),
  );
}

/** Works with the store's catalog locked. It drops an import that was accepted but is not stored yet. */
function alone<Result>(
  db: RootDatabase,
  storeId: string,
  transact: (lock: LockCatalog) => Promise<Result>,
): Promise<Result> {
  const finishAccepted = async () => void (await db.stagedImport.deleteMany({ where: { storeId } }));
  return withCatalog(db, storeId, { isLong: true, finishAccepted }, transact);
}

/**
 * PostgreSQL checks the foreign key of each deleted product. With statistics older than the store's products, that check would read
 * all assignments of the store instead of those of the product.
 */
async function refreshStatistics(db: RootDatabase): Promise<void> {
  await db.$executeRaw`ANALYZE "Product", "ProductSite"`.catch(() => undefined); // a running vacuum, which may refuse this, analyzes them too
}

/**
 * Deletes the next products by id. It locks the catalog, so it waits for a running import. Both statements walk a range of the
 * primary key: the planner would run a join with a subquery as nested loops while its statistics do not know the products yet.
 *
 * @param after the last id that an earlier call deleted; every id is greater than the empty text
 * @returns the last id, or undefined if no product is left
 */
function deleteProducts(db: RootDatabase, storeId: string, after: string): Promise<string | undefined> {
  return alone(db, storeId, (lock) =>
    inTransaction(db, { timeoutMs }, async (transaction) => {
      await lock(transaction, "long");
      const [last] = await transaction.$queryRaw<{ id: string }[]>`
        SELECT id FROM "Product" WHERE "storeId" = ${storeId} AND id > ${after}
        ORDER BY id LIMIT 1 OFFSET (SELECT ${batchRows - 1}::int)`;
      const upTo = last === undefined ? Prisma.empty : Prisma.sql`AND id <= ${last.id}`;
      await transaction.$executeRaw`DELETE FROM "Product" WHERE "storeId" = ${storeId} AND id > ${after} ${upTo}`;
      return last?.id;
    }),
  );
}
