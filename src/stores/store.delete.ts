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
 * Deletes a store: first its tokens and public keys, so that nothing more is written, then its data. Another call
 * completes an interrupted one.
 *
 * @param waitMs until its tokens and keys have stopped working
 * @returns what it had
 * @throws {AppError} NOT_FOUND, or UNAVAILABLE where its shows or its catalog stay locked
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
  await new Promise((resolve) => setTimeout(resolve, waitMs)); // also again: they may have been deleted just before
  await deleteShows(db, storeId);
  if (contents.products > batchRows) await refreshStatistics(db);
  for (let after: string | undefined = ""; after !== undefined;) after = await deleteProducts(db, storeId, after);
  for (const table of storeTables) await deleteTable(db, storeId, table);
  await db.site.deleteMany({ where });
  await endCallers(); // who came meanwhile
  await deleteRest(db, storeId);
  return contents;
}

/** From here on nothing is recorded for them, and they cannot be rebuilt: both need the row of the show, which they lock. */
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

/** An import that has begun meanwhile, which has no token, ends before or fails: a store with the same id begins empty. */
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

/** With the store's catalog locked. An import that was accepted, but is not stored yet, is dropped. */
function alone<Result>(
  db: RootDatabase,
  storeId: string,
  transact: (lock: LockCatalog) => Promise<Result>,
): Promise<Result> {
  const finishAccepted = async () => void (await db.stagedImport.deleteMany({ where: { storeId } }));
  return withCatalog(db, storeId, { isLong: true, finishAccepted }, transact);
}

/**
 * For the statement that the server runs for the foreign key of each deleted product: where statistics are older than the
 * store's products, it reads all assignments of the store, instead of those of the product.
 */
async function refreshStatistics(db: RootDatabase): Promise<void> {
  await db.$executeRaw`ANALYZE "Product", "ProductSite"`.catch(() => undefined); // a vacuum may be under way, which does so too
}

/**
 * Deletes the next products in the order of their ids. It locks the catalog, and so waits for an import under way. Both
 * statements walk a range of the primary key: of a join with a subquery, the planner would make nested loops where its
 * statistics do not know the products yet.
 *
 * @param after the last id that an earlier call deleted; every id is greater than the empty text
 * @returns the last id, unless no product is left
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
