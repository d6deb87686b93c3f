import type { Database, RootDatabase } from "../../database/client.js";
import { asLocked } from "../../database/shares/lockWait.js";
import { textArrayLiteral } from "../../database/rawParameters.js";
import { queryStore, retryAfterMoves } from "../../database/sql/storeStatements.js";
import { inTransaction, setLocal } from "../../database/transaction.js";
import { Prisma } from "../../generated/prisma/client.js";
import { beginningOf } from "../../events/record/events.sql.js";
import { attributionOf } from "./settings.js";
import { attributeOrders, lockTimeoutMs } from "../state/order.record.js";
import { waitForOrders } from "../state/order.rows.js";

const batchOrders = 500;
const pageEvents = 2_000;
const timeoutMs = 60_000;

/**
 * Attributes due orders: those that arrived as events, those with late events, and those of five minutes ago. If this process ends
 * before, another call does it.
 *
 * @param of only these orders
 * @returns the ids of the shows whose figures changed
 */
export async function attributeDue(
  db: RootDatabase,
  storeId: string,
  of?: readonly string[],
): Promise<readonly string[]> {
  const shows = new Set<string>();
  const now = new Date();
  for (let isRest = true; isRest;) {
    const due = await db.shopOrder.findMany({
      where: { storeId, dueAt: { lte: now }, ...(of && { id: { in: [...of] } }) },
      select: { id: true },
      orderBy: { dueAt: "asc" },
      take: batchOrders,
    });
    const ids = due.map(({ id }) => id);
    const { changed } = await attributeOrders(db, storeId, ids);
    for (const lsId of changed) shows.add(lsId);
    isRest = ids.length === batchOrders;
  }
  return [...shows];
}

interface Span {
  /** The viewer's id, as an element of a PostgreSQL array. */
  readonly viewer: string;
  readonly from: string;
  readonly until: string;
}

/**
 * Marks orders as due whose viewers have late events and whose rule uses them: those placed between the beginning of such an event and
 * the end of the window after it.
 *
 * @returns whether events are left
 */
export async function markLate(db: RootDatabase, storeId: string): Promise<boolean> {
  const work = () => inTransaction(db, { timeoutMs }, (transaction) => asLocked(markWithin(transaction, storeId)));
  return retryAfterMoves(db, storeId, work);
}

async function markWithin(transaction: Database, storeId: string): Promise<boolean> {
  await setLocal(transaction, { lock_timeout: lockTimeoutMs });
  const [late] = await queryStore<{ events: number; spans: readonly Span[] }>(transaction, storeId, takeLate(storeId));
  const { events, spans } = late ?? { events: 0, spans: [] };
  const { rule, windowHours } = await attributionOf(transaction, storeId);
  if (spans.length === 0 || rule === "AS_SENT") return events === pageEvents;
  await waitForOrders(transaction, storeId); // an order that is being stored may not have seen the events
  const column = (name: keyof Span) => textArrayLiteral(spans.map((span) => span[name]));
  const now = new Date();
  const isWithin = Prisma.sql`o."placedAt" BETWEEN v."from" AND v.until + ${windowHours}::int * interval '1 hour'`;
  await transaction.$executeRaw`
    UPDATE "ShopOrder" SET "dueAt" = ${now}::timestamptz
    WHERE "storeId" = ${storeId} AND "isPaid" AND coalesce("dueAt" > ${now}::timestamptz, true) AND id = ANY(ARRAY(
      SELECT s.id
      FROM ROWS FROM (unnest(${column("viewer")}::bytea[], ${column("from")}::timestamptz[], ${column("until")}::timestamptz[]))
        AS v("viewerId", "from", until), LATERAL (
        SELECT o.id FROM "ShopOrder" AS o
        WHERE o."storeId" = ${storeId} AND CASE WHEN o."viewerId" = '' THEN o."claimedBy" ELSE o."viewerId" END = v."viewerId"
          AND ${isWithin}
        UNION ALL
        SELECT o.id FROM "ShopOrder" AS o
        WHERE o."storeId" = ${storeId} AND o."alsoClaimedBy" = v."viewerId" AND o."alsoClaimedBy" <> '' AND ${isWithin} OFFSET 0) AS s))`;
  return events === pageEvents;
}

/** Removes the next late events. Returns how many there were, and for each viewer the time that they span. */
function takeLate(storeId: string): Prisma.Sql {
  return Prisma.sql`
    WITH taken AS (
      DELETE FROM "LateEvent" AS l WHERE l."storeId" = ${storeId} AND (l.show, l.id) IN (
        SELECT n.show, n.id FROM "LateEvent" AS n WHERE n."storeId" = ${storeId}
        ORDER BY n.show, n.id LIMIT ${pageEvents}::int FOR UPDATE SKIP LOCKED)
      RETURNING l.show, l.id),
    span AS (
      SELECT e."viewerId", min(${beginningOf("e")}) AS "from", max(e."occurredAt") AS until
      FROM taken AS t, LATERAL (
        SELECT * FROM "ShowEvent" AS k WHERE k."storeId" = ${storeId} AND k.show = t.show AND k.id = t.id OFFSET 0) AS e
      GROUP BY e."viewerId")
    SELECT (SELECT count(*) FROM taken)::int AS events,
      (SELECT coalesce(json_agg(json_build_object('viewer', span."viewerId"::text, 'from', span."from", 'until', span.until)), '[]')
        FROM span) AS spans`;
}
