import { Prisma } from "../../../generated/prisma/client.js";
import { channelCodes, reversalCodes, typeCodes } from "../../events/storage/codes.js";
import { type Attribution, reasonCodes, reasonsOfRule, ruleCodes } from "./codes.js";
import { watchedBy } from "./evidence.js";

/** What `moveWhole` returns, in one row: the entries of orders that moved, by the number of their show, as array literals. */
export interface MovedOrders {
  /** The shows of the entries, by number. */
  readonly shows: readonly MovedShow[] | null;
  /** Orders that are not in one part, of which nothing was changed. */
  readonly others: readonly string[] | null;
  readonly count: number;
  readonly place: string;
  readonly id: string;
  readonly type: string;
  readonly channel: string;
  readonly viewerId: string;
  readonly value: string;
  readonly orderId: string;
  readonly lines: string;
  readonly occurredAt: string;
}

export interface MovedShow {
  readonly id: string;
  readonly number: number;
  readonly entries: number;
  /** Whether an ORDER is among the entries, or one that is taken back. */
  readonly hasOrder: boolean;
  /** Products of the entries that the show does not keep. */
  readonly products: readonly string[];
}

/**
 * Attributes orders as a whole, as partsOf does for all rules but CART, and answers with the entries of those that count for
 * another show or channel now: entriesOf for a part that moves with all it has. Of an order that stays where it is, only the
 * reason is written. Changed parts are looked up by an array: for a join alone, the planner may read all parts of the store.
 *
 * @param ids an array of orders
 */
export function moveWhole(storeId: string, ids: Prisma.Sql, { rule, windowHours }: Attribution): Prisma.Sql {
  return Prisma.sql`
    WITH known AS MATERIALIZED (
      SELECT row_number() OVER ()::int AS place, s.id AS "orderId", s."placedAt", s."lsId", s.channel AS "sentChannel",
        CASE WHEN s."viewerId" = '' THEN s."claimedBy" ELSE s."viewerId" END AS "viewerId", p.show, p.channel, p.amount, p.lines, p.refunds,
        ${isWhole(storeId)} AS "isWhole", p.rule <> ${ruleCodes.CART}::int AND ${followsFromRule(Prisma.sql`p.reason`)} AS "followsFromRule"
      FROM unnest(${ids}) AS i(id), LATERAL (
        SELECT * FROM "ShopOrder" AS s WHERE s."storeId" = ${storeId} AND s.id = i.id OFFSET 0) AS s, "OrderPart" AS p
      WHERE p."storeId" = ${storeId} AND p."orderId" = s.id AND p.place = 0),
    one AS (SELECT * FROM known WHERE "isWhole"),
    ${rule === "AS_SENT" ? sentFor(storeId) : lastWatched(storeId, windowHours)},
    changed AS (
      SELECT * FROM now WHERE show <> 0 OR "newShow" <> 0 OR NOT "followsFromRule" OR NOT ${followsFromRule(Prisma.sql`reason`)}),
    saved AS (
      UPDATE "OrderPart" AS p SET show = n."newShow", channel = n."newChannel", rule = ${ruleCodes[rule]}::int, reason = n.reason, at = n.at,
        seconds = n.seconds, "productId" = ''
      FROM changed AS n
      WHERE p."storeId" = ${storeId} AND p."orderId" = n."orderId" AND p.place = 0
        AND p."orderId" = ANY (ARRAY(SELECT "orderId" FROM changed))),
    ${entries(storeId)}
    SELECT (SELECT json_agg(m ORDER BY m.number) FROM involved AS m) AS shows,
      (SELECT array_agg("orderId" ORDER BY "orderId") FROM known WHERE NOT "isWhole") AS others, count(*)::int AS count,
      ${column("place")}, ${column("id")}, ${column("type")}, ${column("channel")}, ${column("viewerId")}, ${column("value")},
      ${column("orderId")}, ${column("lines")}, ${column("occurredAt")}
    FROM (SELECT * FROM entry ORDER BY place, "orderId", type DESC) AS e`;
}

/** Whether the whole order is in its part `p`. CART leaves refunds of products that are not in the order out of a part's lines. */
function isWhole(storeId: string): Prisma.Sql {
  return Prisma.sql`
    (p.rule <> ${ruleCodes.CART}::int OR (p.refunds = '[]' AND NOT EXISTS (
      SELECT FROM "OrderPart" AS q WHERE q."storeId" = ${storeId} AND q."orderId" = p."orderId" AND q.place > 0)))`;
}

function followsFromRule(reason: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`${reason} IN (${Prisma.join(reasonsOfRule.map((name) => Prisma.sql`${reasonCodes[name]}::int`))})`;
}

function column(name: keyof MovedOrders): Prisma.Sql {
  const quoted = Prisma.raw(`"${name}"`);
  return Prisma.sql`coalesce(array_agg(${quoted}), '{}')::text AS ${quoted}`;
}

/** As asSent. */
function sentFor(storeId: string): Prisma.Sql {
  const { NOT_SENT, SHOW_DELETED, SENT } = reasonCodes;
  return Prisma.sql`
    now AS MATERIALIZED (
      SELECT o.*, coalesce(s.number, 0) AS "newShow", CASE WHEN s.number IS NULL THEN 0 WHEN "sentChannel" = 0
          THEN ${channelCodes.REFERRAL}::int ELSE "sentChannel" END AS "newChannel",
        CASE WHEN "lsId" = '' THEN ${NOT_SENT}::int WHEN s.number IS NULL THEN ${SHOW_DELETED}::int ELSE ${SENT}::int END AS reason,
        "placedAt" AS at, 0 AS seconds
      FROM one AS o LEFT JOIN "LiveStream" AS s ON s."storeId" = ${storeId} AND s.id = o."lsId")`;
}

/** As asWatched. */
function lastWatched(storeId: string, windowHours: number): Prisma.Sql {
  const { NO_VIEWER, NOT_WATCHED, WATCHED } = reasonCodes;
  const orders = Prisma.sql`(SELECT * FROM one WHERE "viewerId" <> '') AS o`;
  return Prisma.sql`
    watched AS MATERIALIZED (${watchedBy(storeId, orders, windowHours)}),
    now AS MATERIALIZED (
      SELECT o.*, coalesce(w.show, 0) AS "newShow", coalesce(w.channel, 0) AS "newChannel",
        CASE WHEN "viewerId" = '' THEN ${NO_VIEWER}::int WHEN w.show IS NULL THEN ${NOT_WATCHED}::int ELSE ${WATCHED}::int END AS reason,
        coalesce(w.at, "placedAt") AS at, coalesce(w.seconds, 0)::numeric AS seconds
      FROM one AS o LEFT JOIN watched AS w ON w.place = o.place)`;
}

/** What is taken back where an order counted before, and what is added where it counts now. */
function entries(storeId: string): Prisma.Sql {
  const order = Prisma.sql`"orderId", "viewerId", "placedAt", amount, lines, refunds`;
  return Prisma.sql`
    moved AS (SELECT * FROM now WHERE (show, channel) <> ("newShow", "newChannel")),
    part AS (
      SELECT show, channel, ${reversalCodes.ORDER}::int AS "orderType", ${reversalCodes.REFUND}::int AS "refundType", ${order} FROM moved
      UNION ALL SELECT "newShow", "newChannel", ${typeCodes.ORDER}::int, ${typeCodes.REFUND}::int, ${order} FROM moved),
    change AS (
      SELECT show, channel, "orderType" AS type, "orderId", "viewerId", "placedAt" AS "occurredAt", amount AS value, lines FROM part
      UNION ALL SELECT show, channel, "refundType", "orderId", "viewerId", to_timestamp(r.at / 1000.0), r.amount, r.lines::text
      FROM part, json_to_recordset(refunds::json) AS r(at bigint, amount numeric, lines json) WHERE refunds <> '[]'),
    entry AS MATERIALIZED (
      SELECT s.id AS "lsId", c.show, dense_rank() OVER (ORDER BY c.show) AS place, type, c.channel, "orderId", "viewerId", "occurredAt", value,
        CASE WHEN lines = '[]' THEN '' ELSE lines END AS lines,
        '\\x00'::bytea || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) AS id
      FROM change AS c, "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.number = c.show),
    product AS MATERIALIZED (
      SELECT show, "productId" FROM (
        SELECT DISTINCT e."lsId", e.show, x."productId" FROM entry AS e, json_to_recordset(e.lines::json) AS x("productId" text) WHERE lines <> '') AS p
      WHERE NOT EXISTS (SELECT FROM "LiveStreamProduct" AS k
        WHERE k."storeId" = ${storeId} AND k."liveStreamId" = p."lsId" AND k."productId" = p."productId" AND k.slot = -1)),
    involved AS (
      SELECT "lsId" AS id, show AS number, count(*) AS entries, bool_or(type IN (${typeCodes.ORDER}::int, ${reversalCodes.ORDER}::int)) AS "hasOrder",
        coalesce((SELECT json_agg(p."productId" ORDER BY p."productId") FROM product AS p WHERE p.show = entry.show), '[]') AS products
      FROM entry GROUP BY "lsId", show)`;
}
