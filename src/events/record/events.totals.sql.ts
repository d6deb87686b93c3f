import { Prisma } from "../../generated/prisma/client.js";
import {
  changes,
  channelBits,
  channelName,
  groupBits,
  hourOf,
  minuteOf,
  momentOf,
  quarterOf,
} from "./eventValues.sql.js";
import { idOfShow, type StoreRow } from "./showRow.js";
import { unknownName } from "./countedNames.sql.js";
import { isSameShow, countedName } from "./viewers.sql.js";

const ordersOf = (row: string) => changes.orders(Prisma.raw(`${row}.type`));

const salesOf = (row: string) => changes.sales(Prisma.raw(`${row}.type`), Prisma.raw(`${row}.value`));

const name = channelName(Prisma.sql`channel`);
const [occurredAt, hour, minute] = [Prisma.sql`"occurredAt"`, Prisma.sql`hour`, Prisma.sql`minute`];
const [type, value] = [Prisma.sql`type`, Prisma.sql`value`];
const [orders, sales, refunds] = [changes.orders(type), changes.sales(type, value), changes.refunds(type, value)];

/** Adds newly stored events to a slot of each total. */
export function totalsOf(store: StoreRow, slot: Prisma.Sql, hasOthers: boolean): Prisma.Sql {
  const { source, isStore } = store;
  const lsId = idOfShow("a");
  return Prisma.sql`
    total AS (
      INSERT INTO "LiveStreamTotal" AS t ("storeId", "liveStreamId", channel, slot, sales, orders, viewers, "cartViewers", "viewSeconds",
        refunds, buyers, "engagedViewers", "ordersWithoutViewer")
      SELECT o.id, ${lsId}, a.channel, ${slot}::int, a.sales, a.orders, a.viewers, a.carts, a.seconds, a.refunds, a.buyers, a.engaged,
        a."ordersWithoutViewer"
      FROM ${source}, (
        SELECT show, channel, sum(sales) AS sales, sum(orders) AS orders, sum(viewers) AS viewers, sum(carts) AS carts,
          sum(seconds) AS seconds, sum(refunds) AS refunds, sum(buyers) AS buyers, sum(engaged) AS engaged, sum("ordersWithoutViewer") AS "ordersWithoutViewer"
        FROM (
          SELECT show, ${name} AS channel, ${sales} AS sales, ${orders} AS orders, 0 AS viewers, 0 AS carts, 0 AS seconds,
            ${refunds} AS refunds, 0 AS buyers, 0 AS engaged, CASE WHEN "viewerId" = '' THEN ${orders} ELSE 0 END AS "ordersWithoutViewer"
          FROM fresh WHERE type > 2
          UNION ALL SELECT show, ${name}, 0, 0, 0, 0, sum(value), 0, 0, 0, 0 FROM fresh WHERE type = 1
          GROUP BY 1, 2 HAVING sum(value) <> 0
          UNION ALL SELECT show, c.channel, 0, 0, ${newOf("viewer")}, ${newOf("cart")}, 0, 0, ${newOf("buyer")}, ${newOf("engaged")}, 0
          FROM viewer, ${channelBits} WHERE "newSeen" & (c.viewer | c.cart | c.engaged | c.buyer) <> 0 GROUP BY show, c.channel) AS parts
        GROUP BY show, channel) AS a
      WHERE ${isStore} ORDER BY a.show, a.channel
      ON CONFLICT ("storeId", "liveStreamId", channel, slot) DO UPDATE SET sales = t.sales + EXCLUDED.sales,
        orders = t.orders + EXCLUDED.orders, viewers = t.viewers + EXCLUDED.viewers,
        "cartViewers" = t."cartViewers" + EXCLUDED."cartViewers", "viewSeconds" = t."viewSeconds" + EXCLUDED."viewSeconds",
        refunds = t.refunds + EXCLUDED.refunds, buyers = t.buyers + EXCLUDED.buyers,
        "engagedViewers" = t."engagedViewers" + EXCLUDED."engagedViewers",
        "ordersWithoutViewer" = t."ordersWithoutViewer" + EXCLUDED."ordersWithoutViewer"),
    ${addToGroups(store, slot, hasOthers)},
    ${addToMinutes(store, slot)},
    ${addToProducts(store, slot, hasOthers)}`;
}

function addToMinutes({ source, isStore }: StoreRow, slot: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    minute AS (
      INSERT INTO "LiveStreamMinute" AS t ("storeId", "liveStreamId", minute, slot, viewers, carts, orders, sales)
      SELECT o.id, ${idOfShow("a")}, a.minute, ${slot}::int, a.viewers, a.carts, a.orders, a.sales
      FROM ${source}, (
        SELECT show, ${momentOf(hour, minute)} AS minute, sum(viewers) AS viewers, sum(carts) AS carts, sum(orders) AS orders,
          sum(sales) AS sales
        FROM (
          SELECT show, hour, minute, viewers, 0 AS carts, 0 AS orders, 0::numeric AS sales FROM present
          UNION ALL SELECT show, hour, minute, 0, 1, 0, 0 FROM heard WHERE type = 2
          UNION ALL SELECT show, ${hourOf(occurredAt)}, ${minuteOf(occurredAt)}, 0, 0, ${orders}, ${sales} FROM fresh
          WHERE ${changes.isSold(type)}) AS parts
        GROUP BY show, hour, minute) AS a
      WHERE ${isStore} ORDER BY a.show, a.minute
      ON CONFLICT ("storeId", "liveStreamId", minute, slot) DO UPDATE SET viewers = t.viewers + EXCLUDED.viewers,
        carts = t.carts + EXCLUDED.carts, orders = t.orders + EXCLUDED.orders, sales = t.sales + EXCLUDED.sales
      RETURNING "liveStreamId")`;
}

/** How many viewers got the first of a kind's bits. */
function newOf(kind: string): Prisma.Sql {
  const bits = Prisma.raw(`c.${kind}`);
  return Prisma.sql`count(*) FILTER (WHERE "newSeen" & ${bits} <> 0 AND seen & ~"newSeen" & ${bits} = 0)`;
}

/** Lines of an event `e`, as `x`. */
export const linesOf = Prisma.sql`
  jsonb_to_recordset((CASE WHEN e.lines = '' THEN '[]' ELSE e.lines END)::jsonb) AS x("productId" text, quantity bigint, amount numeric)`;

/** Sums over parts of products, for a SELECT. */
export const productSums = Prisma.sql`
  sum(carts) AS carts, sum(orders) AS orders, sum(quantity) AS quantity, sum(sales) AS sales, sum(refunds) AS refunds`;

interface ProductParts {
  /** A name or subquery with events. */
  readonly events: Prisma.Sql;
  /** What is selected of an event `e`. */
  readonly columns: Prisma.Sql;
  /** What identifies an event `e`, and the columns. */
  readonly key: Prisma.Sql;
}

/**
 * One row for each event and product, with these columns, productId, carts, orders, quantity, sales and refunds. An ORDER or a REFUND
 * counts by its lines, or, without any, as one of its productId.
 */
export function productParts({ events, columns, key }: ProductParts): Prisma.Sql {
  const ofEvent = Prisma.sql`e.type`;
  const figures = (quantity: string, amount: string) => Prisma.sql`
    CASE WHEN e.type = 2 THEN 1 ELSE 0 END AS carts, ${changes.orders(ofEvent)} AS orders,
    ${changes.sales(ofEvent, Prisma.raw(quantity))} AS quantity, ${changes.sales(ofEvent, Prisma.raw(amount))} AS sales,
    ${changes.refunds(ofEvent, Prisma.raw(amount))} AS refunds`;
  return Prisma.sql`
    SELECT ${columns}, e."productId", ${figures("1::bigint", "e.value")}
    FROM ${events} AS e WHERE e.type > 1 AND e.lines = '' AND e."productId" <> ''
    UNION ALL SELECT ${columns}, x."productId", ${figures("sum(x.quantity)", "sum(x.amount)")}
    FROM ${events} AS e, ${linesOf} WHERE e.type > 2 AND e.lines <> ''
    GROUP BY ${key}, e.type, x."productId"`;
}

/** Adds newly stored events to a slot of each product. @param hasOthers whether some may be beyond the limit */
function addToProducts(store: StoreRow, slot: Prisma.Sql, hasOthers: boolean): Prisma.Sql {
  const parts = productParts({
    events: Prisma.sql`fresh`,
    columns: Prisma.sql`e.show, ${quarterOf(Prisma.sql`e."occurredAt"`)} AS "startsAt"`,
    key: Prisma.sql`e.show, e."acceptedAt", e.position, e.id, e."occurredAt"`,
  });
  return Prisma.sql`
    product AS (
      INSERT INTO "ShowProductSlot" AS t ("storeId", show, "productId", "startsAt", slot, carts, orders, quantity, sales, refunds)
      SELECT o.id, a.show, a."productId", a."startsAt", ${slot}::int, a.carts, a.orders, a.quantity, a.sales, a.refunds
      FROM ${store.source}, (
        SELECT show, "productId", "startsAt", ${productSums}
        FROM (${parts}) AS parts GROUP BY show, "productId", "startsAt") AS a
      WHERE ${store.isStore} ${hasOthers ? isKept(store) : Prisma.empty} ORDER BY a.show, a."productId", a."startsAt"
      ON CONFLICT ("storeId", show, "productId", "startsAt", slot) DO UPDATE SET carts = t.carts + EXCLUDED.carts,
        orders = t.orders + EXCLUDED.orders, quantity = t.quantity + EXCLUDED.quantity, sales = t.sales + EXCLUDED.sales,
        refunds = t.refunds + EXCLUDED.refunds
      RETURNING show)`;
}

function isKept({ storeId }: StoreRow): Prisma.Sql {
  return Prisma.sql`
    AND (SELECT true FROM "LiveStreamProduct" AS k WHERE k."storeId" = ${storeId} AND k."liveStreamId" = ${idOfShow("a")}
      AND k."productId" = a."productId" AND k.slot = -1)`;
}

/**
 * Counts viewers by device and source, and orders by the source of their viewer, or by their own if they name no viewer. coalesce() hides
 * the condition on their type from the planner, which would expect one row and join each order with each viewer.
 */
function addToGroups(store: StoreRow, slot: Prisma.Sql, hasOthers: boolean): Prisma.Sql {
  const own = Prisma.sql`coalesce(nullif(m.source, ''), ${unknownName})`;
  return Prisma.sql`
    grouped AS (
      INSERT INTO "LiveStreamGroup" AS t ("storeId", "liveStreamId", kind, name, slot, viewers, orders, sales)
      SELECT o.id, ${idOfShow("a")}, a.kind, a.name, ${slot}::int, a.viewers, a.orders, a.sales
      FROM ${store.source}, (
        SELECT show, kind, name, sum(viewers) AS viewers, sum(orders) AS orders, sum(sales) AS sales FROM (
          SELECT show, c.kind, CASE WHEN c.bits = 1 THEN "liveDevice" WHEN c.bits = 2 THEN "replayDevice" ELSE source END AS name,
            count(*) AS viewers, 0 AS orders, 0 AS sales
          FROM viewer, ${groupBits} WHERE "newSeen" & c.bits <> 0 AND seen & ~"newSeen" & c.bits = 0 GROUP BY 1, 2, 3
          UNION ALL SELECT f.show, 'SOURCE', coalesce(v.source, m."knownSource"), 0, sum(${ordersOf("f")}), sum(${salesOf("f")}) FROM fresh AS f
          JOIN met AS m ON m."viewerId" = f."viewerId" AND ${isSameShow("m", "f")}
          LEFT JOIN viewer AS v ON v."viewerId" = f."viewerId" AND ${isSameShow("v", "f")}
          WHERE coalesce(${changes.isSold(Prisma.sql`f.type`)}, false) GROUP BY 1, 2, 3
          UNION ALL SELECT m.show, 'SOURCE', ${hasOthers ? countedName(store, "SOURCE", own) : own}, 0, ${ordersOf("m")}, ${salesOf("m")} FROM fresh AS m
          WHERE ${changes.isSold(Prisma.sql`m.type`)} AND m."viewerId" = '') AS parts
        GROUP BY show, kind, name) AS a
      WHERE ${store.isStore} ORDER BY a.show, a.kind, a.name
      ON CONFLICT ("storeId", "liveStreamId", kind, name, slot) DO UPDATE SET viewers = t.viewers + EXCLUDED.viewers,
        orders = t.orders + EXCLUDED.orders, sales = t.sales + EXCLUDED.sales
      RETURNING "liveStreamId")`;
}
