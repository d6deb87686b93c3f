import { LRUCache } from "lru-cache";
import type { Database, RootDatabase } from "../../database/client.js";
import { retrying } from "../../database/transaction.js";
import { queryStore, retryAfterMoves } from "../../database/sql/storeStatements.js";
import { Prisma } from "../../generated/prisma/client.js";
import { showRow, type ShowRow } from "./showRow.js";
import { trySharedLock } from "../../database/showLock.js";
import { addToSpans, daySeconds, epoch, quarterSeconds } from "./spans.sql.js";
import { productSums } from "./events.totals.sql.js";
import { storeClientOf } from "../../database/shares/caller.js";
import { keptByDatabase } from "../../database/shares/forStore.js";
import { showKey } from "../../shows/liveStream.js";

/**
 * Merges the slots that batches wrote into one row for each minute, device, source and product, and adds it to the spans. Figures stay
 * the same, and reading becomes cheaper. Rows that a batch has locked wait for the next time.
 */
export async function foldTotals(db: Database, storeId: string, lsId: string): Promise<void> {
  for (const statement of foldStatements(storeId, lsId)) {
    await retrying(() => retryAfterMoves(db, storeId, () => queryStore(db, storeId, statement)));
  }
}

/** Like foldTotals, within a transaction. */
export async function foldWithin(transaction: Database, storeId: string, lsId: string): Promise<void> {
  for (const statement of foldStatements(storeId, lsId)) await queryStore(transaction, storeId, statement);
}

const rowsMax = Prisma.sql`10000`;

function foldTerms(storeId: string, lsId: string) {
  const of = (name: string) =>
    Prisma.sql`${Prisma.raw(name)}."storeId" = ${storeId} AND ${Prisma.raw(name)}."liveStreamId" = ${lsId}`;
  const ofNumber = Prisma.sql`p."storeId" = ${storeId} AND p.show = (SELECT number FROM show)`;
  // Does nothing while the show is being rebuilt.
  const show = Prisma.sql`show AS MATERIALIZED (
    SELECT number, ${trySharedLock(storeId, lsId)} AS "hasLock" FROM "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.id = ${lsId})`;
  const isFree = Prisma.sql`slot >= 0 AND (SELECT "hasLock" FROM show) LIMIT ${rowsMax} FOR UPDATE SKIP LOCKED`;
  return { row: showRow(storeId, lsId), of, ofNumber, show, isFree };
}

/**
 * One statement for each table, so that each row counts once wherever folding is interrupted. They skip locked rows, and write rows in
 * the order of their keys, so folding waits for no batch and cannot deadlock. IS TRUE forces a hashed subplan instead of a quadratic
 * join. Each ends in a SELECT: see storeStatements.ts.
 */
function foldStatements(storeId: string, lsId: string): readonly Prisma.Sql[] {
  const terms = foldTerms(storeId, lsId);
  return [foldMinutes(terms), foldGroups(terms), foldProducts(terms)];
}

type FoldTerms = ReturnType<typeof foldTerms>;

function foldMinutes({ row, of, show, isFree }: FoldTerms): Prisma.Sql {
  return Prisma.sql`
    WITH ${show},
    free AS MATERIALIZED (SELECT minute, slot FROM "LiveStreamMinute" AS m WHERE ${of("m")} AND ${isFree}),
    gone AS (
      DELETE FROM "LiveStreamMinute" AS m
      WHERE ${of("m")} AND slot >= 0 AND ((minute, slot) IN (SELECT minute, slot FROM free)) IS TRUE
      RETURNING m.minute, m.viewers, m.carts, m.orders, m.sales),
    added AS MATERIALIZED (
      SELECT minute, sum(viewers) AS viewers, sum(carts) AS carts, sum(orders) AS orders, sum(sales) AS sales
      FROM gone GROUP BY minute),
    folded AS (
      INSERT INTO "LiveStreamMinute" AS t ("storeId", "liveStreamId", minute, slot, viewers, carts, orders, sales)
      SELECT l."storeId", l.id, a.minute, -1, a.viewers, a.carts, a.orders, a.sales
      FROM ${row.source}, added AS a WHERE ${row.isShow} ORDER BY a.minute
      ON CONFLICT ("storeId", "liveStreamId", minute, slot) DO UPDATE SET viewers = t.viewers + EXCLUDED.viewers,
        carts = t.carts + EXCLUDED.carts, orders = t.orders + EXCLUDED.orders, sales = t.sales + EXCLUDED.sales
      RETURNING minute, viewers),
    spans AS (${addToSpans({ show: row, added: Prisma.sql`(SELECT minute, carts, orders, sales FROM added)`, totals: Prisma.sql`folded` })})
    SELECT 1`;
}

function foldGroups({ row, of, show, isFree }: FoldTerms): Prisma.Sql {
  return Prisma.sql`
    WITH ${show},
    free AS MATERIALIZED (SELECT kind, name, slot FROM "LiveStreamGroup" AS g WHERE ${of("g")} AND ${isFree}),
    gone AS (
      DELETE FROM "LiveStreamGroup" AS g WHERE ${of("g")} AND slot >= 0
        AND ((kind, name, slot) IN (SELECT kind, name, slot FROM free)) IS TRUE
      RETURNING g.kind, g.name, g.viewers, g.orders, g.sales),
    folded AS (
      INSERT INTO "LiveStreamGroup" AS t ("storeId", "liveStreamId", kind, name, slot, viewers, orders, sales)
      SELECT l."storeId", l.id, a.kind, a.name, -1, a.viewers, a.orders, a.sales
      FROM ${row.source}, (
        SELECT kind, name, sum(viewers) AS viewers, sum(orders) AS orders, sum(sales) AS sales FROM gone GROUP BY kind, name) AS a
      WHERE ${row.isShow} ORDER BY a.kind, a.name
      ON CONFLICT ("storeId", "liveStreamId", kind, name, slot) DO UPDATE SET viewers = t.viewers + EXCLUDED.viewers,
        orders = t.orders + EXCLUDED.orders, sales = t.sales + EXCLUDED.sales)
    SELECT 1`;
}

function foldProducts({ row, ofNumber, show, isFree }: FoldTerms): Prisma.Sql {
  return Prisma.sql`
    WITH ${show},
    free AS MATERIALIZED (SELECT "productId", "startsAt", slot FROM "ShowProductSlot" AS p WHERE ${ofNumber} AND ${isFree}),
    gone AS (
      DELETE FROM "ShowProductSlot" AS p WHERE ${ofNumber}
        AND (("productId", "startsAt", slot) IN (SELECT "productId", "startsAt", slot FROM free)) IS TRUE
      RETURNING p."productId", p."startsAt", p.carts, p.orders, p.quantity, p.sales, p.refunds),
    spans AS (${addToProductSpans({ show: row, added: Prisma.sql`gone` })}),
    folded AS (
      INSERT INTO "LiveStreamProduct" AS t ("storeId", "liveStreamId", "productId", slot, carts, orders, quantity, sales)
      SELECT l."storeId", l.id, a."productId", -1, a.carts, a.orders, a.quantity, a.sales
      FROM ${row.source}, (
        SELECT "productId", sum(carts) AS carts, sum(orders) AS orders, sum(quantity) AS quantity, sum(sales) AS sales
        FROM gone GROUP BY "productId") AS a
      WHERE ${row.isShow} ORDER BY a."productId"
      ON CONFLICT ("storeId", "liveStreamId", "productId", slot) DO UPDATE SET carts = t.carts + EXCLUDED.carts,
        orders = t.orders + EXCLUDED.orders, quantity = t.quantity + EXCLUDED.quantity, sales = t.sales + EXCLUDED.sales)
    SELECT 1`;
}

interface ProductSpanSources {
  readonly show: ShowRow;
  /** A name or subquery with productId, startsAt (a quarter of an hour), and the figures to add. */
  readonly added: Prisma.Sql;
}

/** Adds to quarters of an hour and days of UTC. Writes rows in the order of their keys. */
function addToProductSpans({ show, added }: ProductSpanSources): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "ShowProductSpan" AS t ("storeId", show, seconds, "startsAt", "productId", carts, orders, quantity, sales, refunds)
    SELECT l."storeId", l.number, s.seconds, s.starts, s."productId", s.carts, s.orders, s.quantity, s.sales, s.refunds
    FROM ${show.source}, (
      SELECT seconds, date_bin(seconds * interval '1 second', a."startsAt", ${epoch}) AS starts, "productId", ${productSums}
      FROM ${added} AS a, unnest(ARRAY[${quarterSeconds}::int, ${daySeconds}::int]) AS seconds
      GROUP BY seconds, starts, "productId") AS s
    WHERE ${show.isShow} ORDER BY s.seconds, s.starts, s."productId"
    ON CONFLICT ("storeId", seconds, "startsAt", show, "productId") DO UPDATE SET carts = t.carts + EXCLUDED.carts,
      orders = t.orders + EXCLUDED.orders, quantity = t.quantity + EXCLUDED.quantity, sales = t.sales + EXCLUDED.sales,
      refunds = t.refunds + EXCLUDED.refunds`;
}

interface DueShow {
  readonly db: RootDatabase;
  readonly storeId: string;
  readonly lsId: string;
}

/** Further shows are folded when they next record something. */
const showsMax = 10_000;

const dueOf = keptByDatabase(() => new LRUCache<string, DueShow>({ max: showsMax }));

/** The next foldDue of this database folds the show. */
export function noteDue(db: RootDatabase, storeId: string, lsId: string): void {
  dueOf(db).set(showKey(storeId, lsId), { db: storeClientOf(db), storeId, lsId });
}

/**
 * Folds the totals of due shows, so that few slots remain when recording stops.
 *
 * @throws the first error, after trying all shows; a failed show stays due
 */
export async function foldDue(db: RootDatabase, signal: AbortSignal): Promise<void> {
  const due = dueOf(db);
  let failure: unknown;
  for (const [key, show] of Array.from(due.entries())) {
    if (signal.aborted) return;
    due.delete(key); // before folding, so that what is recorded during it notes the show again
    try {
      await foldTotals(show.db, show.storeId, show.lsId);
    } catch (error) {
      noteDue(show.db, show.storeId, show.lsId);
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}
