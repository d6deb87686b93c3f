import type { Database } from "../../database/client.js";
import { textArrayLiteral } from "../../database/rawParameters.js";
import { errorAt } from "../../errors.js";
import { Prisma } from "../../generated/prisma/client.js";
import { canBeKey } from "../../lib/text.js";
import { findLiveStream } from "../../shows/liveStream.js";
import type { Channel } from "../../events/events.input.js";
import type { AttributedPart } from "../attribution/attribution.js";
import { reasonText } from "../attribution/reasonText.js";
import type { AttributionRule } from "../../database/codes.js";
import { counted, type OrderLine } from "./order.state.js";
import { attributedBy, channelOf, type Claimed, orderColumns, orderOf, type OrderRow } from "./order.rows.js";
import { partsBefore } from "../attribution/parts.js";
import { attributionOf } from "../attribution/settings.js";
import { fromUnits } from "../../lib/money.js";

export interface OrderAttribution {
  readonly show: { readonly id: string; readonly name: string } | null;
  readonly channel: Channel | null;
  readonly amount: number;
  readonly refunded: number;
  readonly rule: AttributionRule;
  readonly because: string;
  readonly evidence: {
    readonly kind: "VIEW" | "ADD_TO_CART";
    readonly at: Date;
    readonly seconds: number | null;
    readonly productId: string | null;
  } | null;
}

export interface Order {
  readonly id: string;
  readonly placedAt: Date;
  readonly amount: number;
  readonly refunded: number;
  readonly viewerId: string | null;
  readonly isAttributed: boolean;
  readonly refunds: readonly { readonly at: Date; readonly amount: number; readonly lines: readonly OrderLine[] }[];
  readonly lines: readonly OrderLine[];
  readonly attributions: readonly OrderAttribution[];
}

export interface OrderFilter {
  readonly from?: Date | null | undefined;
  readonly until?: Date | null | undefined;
  readonly lsId?: string | null | undefined;
  readonly isAttributed?: boolean | null | undefined;
}

export interface OrderPosition {
  readonly placedAt: Date;
  readonly id: string;
}

/** @throws {AppError} ORDER_NOT_FOUND, also for one that was not paid yet */
export async function findOrder(db: Database, storeId: string, id: string): Promise<Order> {
  const rows = canBeKey(id)
    ? await db.$queryRaw<OrderRow[]>`
        SELECT ${orderColumns} FROM "ShopOrder" AS o WHERE o."storeId" = ${storeId} AND o.id = ${id} AND o."isPaid"`
    : [];
  const [order] = await describe(db, storeId, rows.map(orderOf));
  if (order === undefined) throw errorAt("ORDER_NOT_FOUND", "The store has no order with this id.", ["id"]);
  return order;
}

/**
 * The store's orders that were paid, the latest first.
 *
 * @throws {AppError} LIVE_STREAM_NOT_FOUND
 */
export async function listOrders(
  db: Database,
  storeId: string,
  { first, after, ...filter }: OrderFilter & { readonly first: number; readonly after?: OrderPosition | undefined },
): Promise<{ nodes: Order[]; hasNextPage: boolean }> {
  const isLater =
    after === undefined
      ? Prisma.empty
      : Prisma.sql`AND (o."placedAt", o.id) < (${after.placedAt.toISOString()}::timestamptz, ${after.id})`;
  const rows = await db.$queryRaw<OrderRow[]>`
    SELECT ${orderColumns} FROM "ShopOrder" AS o WHERE ${await matches(db, storeId, filter)} ${isLater}
    ORDER BY o."placedAt" DESC, o.id DESC LIMIT ${first + 1}::int`;
  const nodes = await describe(db, storeId, rows.slice(0, first).map(orderOf));
  return { nodes, hasNextPage: rows.length > first };
}

/** Counted up to a maximum. @throws {AppError} LIVE_STREAM_NOT_FOUND */
export async function countOrders(db: Database, storeId: string, filter: OrderFilter, max: number): Promise<number> {
  const [row] = await db.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS count FROM (
      SELECT FROM "ShopOrder" AS o WHERE ${await matches(db, storeId, filter)} LIMIT ${max}::int) AS counted`;
  return row.count;
}

async function matches(
  db: Database,
  storeId: string,
  { from, until, lsId, isAttributed }: OrderFilter,
): Promise<Prisma.Sql> {
  const show = lsId ? (await findLiveStream(db, storeId, lsId)).number : undefined;
  const hasPart = (which: Prisma.Sql) => Prisma.sql`EXISTS (
    SELECT FROM "OrderPart" AS p WHERE p."storeId" = ${storeId} AND p."orderId" = o.id AND ${which})`;
  const conditions = [
    Prisma.sql`o."storeId" = ${storeId} AND o."isPaid"`,
    ...(from ? [Prisma.sql`o."placedAt" >= ${from.toISOString()}::timestamptz`] : []),
    ...(until ? [Prisma.sql`o."placedAt" < ${until.toISOString()}::timestamptz`] : []),
    ...(show === undefined ? [] : [hasPart(Prisma.sql`p.show = ${show}`)]),
    ...(isAttributed === true ? [hasPart(Prisma.sql`p.show <> 0`)] : []),
    ...(isAttributed === false ? [Prisma.sql`NOT ${hasPart(Prisma.sql`p.show <> 0`)}`] : []),
  ];
  return Prisma.join(conditions, " AND ");
}

async function describe(db: Database, storeId: string, orders: readonly Claimed[]): Promise<Order[]> {
  if (orders.length === 0) return [];
  const parts = await partsBefore(db, storeId, orders);
  const numbers = [...new Set([...parts.values()].flat().map(({ show }) => show))].filter((show) => show !== 0);
  const { windowHours } = await attributionOf(db, storeId);
  const shows = await db.$queryRaw<{ id: string; name: string; number: number }[]>`
    SELECT id, name, number FROM "LiveStream"
    WHERE "storeId" = ${storeId} AND number = ANY(${textArrayLiteral(numbers.map(String))}::int[])`;
  const byNumber = new Map(shows.map(({ id, name, number }) => [number, { id, name }]));
  return orders.map(attributedBy).map((order) => {
    const money = counted(order) ?? { gross: 0, lines: [], refunds: [] };
    const own = parts.get(order.id) ?? [];
    return {
      id: order.id,
      placedAt: order.placedAt,
      amount: fromUnits(money.gross),
      refunded: fromUnits(money.refunds.reduce((units, refund) => units + refund.units, 0)),
      viewerId: order.viewer,
      isAttributed: own.some(({ show }) => show !== 0),
      refunds: money.refunds.map(({ at, units, lines }) => ({ at: new Date(at), amount: fromUnits(units), lines })),
      lines: money.lines,
      attributions: own.map((part) => attributionOfPart(part, order, windowHours, byNumber.get(part.show) ?? null)),
    };
  });
}

function attributionOfPart(
  part: AttributedPart,
  order: Claimed,
  windowHours: number,
  show: OrderAttribution["show"],
): OrderAttribution {
  const { reason, at, seconds, productId, amount, refunded, rule } = part;
  const kind = reason === "WATCHED" ? ("VIEW" as const) : ("ADD_TO_CART" as const);
  const hasEvidence = reason === "WATCHED" || reason === "CARTED";
  return {
    show,
    channel: show === null ? null : channelOf(part.channel),
    amount,
    refunded,
    rule,
    because: reasonText(part, order.placedAt, windowHours, show?.name ?? null),
    evidence: hasEvidence
      ? { kind, at, seconds: kind === "VIEW" ? seconds : null, productId: productId === "" ? null : productId }
      : null,
  };
}

export interface Unattributed {
  readonly orders: number;
  readonly sales: number;
  readonly refunds: number;
}

/** The parts of orders placed within a range that count for no show. Only orders that count for no show at all are counted as orders. */
export async function readUnattributed(db: Database, storeId: string, from: Date, until: Date): Promise<Unattributed> {
  const [row] = await db.$queryRaw<[Unattributed]>`
    SELECT coalesce(sum(p.amount), 0)::float8 AS sales, coalesce(sum(p.refunded), 0)::float8 AS refunds,
      (count(DISTINCT p."orderId") FILTER (WHERE NOT EXISTS (SELECT FROM "OrderPart" AS q
        WHERE q."storeId" = ${storeId} AND q."orderId" = p."orderId" AND q.show <> 0)))::int AS orders
    FROM "OrderPart" AS p WHERE p."storeId" = ${storeId} AND p.show = 0
      AND p."placedAt" >= ${from.toISOString()}::timestamptz AND p."placedAt" < ${until.toISOString()}::timestamptz`;
  return row;
}
