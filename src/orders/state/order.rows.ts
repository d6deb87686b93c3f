import type { Database } from "../../database/client.js";
import { textArrayLiteral, withRawParameters } from "../../database/rawParameters.js";
import { Prisma } from "../../generated/prisma/client.js";
import type { Channel } from "../../events/events.input.js";
import { channelCodes } from "../../database/codes.js";
import { idArrayLiteral, idText } from "../../events/record/eventValues.sql.js";
import type { AttributedOrder } from "../attribution/attribution.js";
import type { KnownMoney, KnownOrder } from "./order.state.js";

/** An order as stored. */
export interface Claimed extends KnownOrder {
  /** The viewer for whom a page claims it. */
  readonly claimedBy: string | null;
  /** The other id if a page gave two for that viewer. */
  readonly alsoClaimedBy: string | null;
  /** When to attribute it again. */
  readonly dueAt: Date | null;
}

export interface OrderRow {
  readonly id: string;
  readonly placedAt: Date;
  readonly viewerId: Uint8Array;
  readonly claimedBy: Uint8Array;
  readonly alsoClaimedBy: Uint8Array;
  readonly lsId: string;
  readonly channel: number;
  readonly isPaid: boolean;
  readonly dueAt: Date | null;
  readonly state: string;
}

const channels = new Map<number, Channel>(Object.entries(channelCodes).map(([name, code]) => [code, name as Channel]));

export function channelOf(code: number): Channel | null {
  return channels.get(code) ?? null;
}

/** The columns of ShopOrder for a SELECT. */
export const orderColumns = Prisma.sql`
  id, "placedAt", "viewerId", "claimedBy", "alsoClaimedBy", "lsId", channel::int, "isPaid", "dueAt", state`;

/** Attributes an order by the viewer whom the shop names, or else the one for whom a page claims it. */
export function attributedBy<Order extends Claimed>(order: Order): Order & AttributedOrder {
  return { ...order, viewer: order.viewerId ?? order.claimedBy };
}

export function orderOf(row: OrderRow): Claimed {
  const { id, placedAt, isPaid, dueAt, lsId } = row;
  return {
    id,
    placedAt,
    isPaid,
    viewerId: viewerOf(row.viewerId),
    lsId: lsId === "" ? null : lsId,
    channel: channelOf(row.channel),
    money: JSON.parse(row.state) as KnownMoney, // written below, or by events.sql.ts
    claimedBy: viewerOf(row.claimedBy),
    alsoClaimedBy: viewerOf(row.alsoClaimedBy),
    dueAt,
  };
}

function viewerOf(bytes: Uint8Array): string | null {
  return bytes.length === 0 ? null : idText(bytes);
}

/** The number of locks for the orders of a store, which share them. A power of 2. */
const lockParts = 256;

/**
 * Reads the known orders by id, and locks them until the end of the transaction.
 *
 * @param ids sorted, so that no two transactions wait for each other
 * @param which with `new`, the transaction will save unknown ones: it reserves them, so that no batch of events creates one at the same
 * time
 */
export async function lockOrders(
  transaction: Database,
  storeId: string,
  ids: readonly string[],
  which: "any" | "new",
): Promise<ReadonlyMap<string, Claimed>> {
  return withRawParameters(async (bind) => {
    const list = bind(textArrayLiteral(ids));
    // So that a claim and its order, when both are being stored, follow each other. Not a lock for each order, because these would fill
    // the server's table of locks.
    await transaction.$queryRaw`
      SELECT count(pg_advisory_xact_lock(hashtextextended('orders ' || o.id, e.part))) FROM "Store" AS o,
        (SELECT DISTINCT hashtext(id) & ${lockParts - 1}::int AS part FROM unnest(${list}::text[]) AS i(id) ORDER BY 1) AS e
      WHERE o.id = ${storeId}`;
    const made =
      which !== "new"
        ? []
        : await transaction.$queryRaw<{ id: string }[]>`
          INSERT INTO "ShopOrder" ("storeId", id, "placedAt", "viewerId", "claimedBy", "lsId", channel, "isPaid", state)
          SELECT o.id, e.id, ${new Date()}::timestamptz, '', '', '', 0, false, ''
          FROM "Store" AS o, unnest(${list}::text[]) AS e(id) WHERE o.id = ${storeId} ORDER BY e.id
          ON CONFLICT ("storeId", id) DO NOTHING RETURNING id`;
    const rows = await transaction.$queryRaw<OrderRow[]>`
      SELECT ${orderColumns} FROM "ShopOrder"
      WHERE "storeId" = ${storeId} AND id = ANY(${list}::text[]) ORDER BY id FOR UPDATE`;
    const reserved = new Set(made.map(({ id }) => id));
    return new Map(rows.filter(({ id }) => !reserved.has(id)).map((row) => [row.id, orderOf(row)]));
  });
}

/**
 * Waits for running transactions that write orders of the store, and keeps others from starting until this one ends. Its next statement
 * sees what they stored, and transactions that start later see what this one stored.
 */
export async function waitForOrders(transaction: Database, storeId: string): Promise<void> {
  await transaction.$queryRaw`
    SELECT count(pg_advisory_xact_lock_shared(hashtextextended('orders ' || o.id, part))) FROM "Store" AS o,
      generate_series(0, ${lockParts - 1}::int) AS part WHERE o.id = ${storeId}`;
}

/** The first claim of an order stays. @param formers by order, earlier ids of viewers who had another one */
export async function keepClaims(
  transaction: Database,
  storeId: string,
  claims: ReadonlyMap<string, string>,
  formers: ReadonlyMap<string, string>,
): Promise<void> {
  const ids = [...claims.keys()];
  const formerIds = idArrayLiteral(ids.map((id) => formers.get(id) ?? ""));
  await transaction.$executeRaw`
    INSERT INTO "OrderClaim" ("storeId", "orderId", "viewerId", "formerId", "claimedAt")
    SELECT o.id, e."orderId", e."viewerId", e."formerId", ${new Date()}::timestamptz
    FROM "Store" AS o,
      ROWS FROM (unnest(${textArrayLiteral(ids)}::text[], ${idArrayLiteral([...claims.values()])}::bytea[], ${formerIds}::bytea[]))
      AS e("orderId", "viewerId", "formerId")
    WHERE o.id = ${storeId} ORDER BY e."orderId"
    ON CONFLICT ("storeId", "orderId") DO NOTHING`;
}

/** Adds the viewers for whom pages claim orders that are not claimed yet. */
export async function withClaims(
  db: Database,
  storeId: string,
  orders: readonly Claimed[],
): Promise<readonly Claimed[]> {
  const ids = orders.map(({ id }) => id);
  const claims = await db.orderClaim.findMany({ where: { storeId, orderId: { in: ids } } });
  const byOrder = new Map(claims.map((claim) => [claim.orderId, claim]));
  return orders.map((order) => {
    const claim = byOrder.get(order.id);
    if (claim === undefined) return order;
    const claimedBy = idText(claim.viewerId);
    // events.sql.ts knows only one id.
    if (order.claimedBy !== null && order.claimedBy !== claimedBy) return order;
    return { ...order, claimedBy, alsoClaimedBy: viewerOf(claim.formerId) };
  });
}

/** Inserts or replaces orders. */
export async function saveOrders(transaction: Database, storeId: string, orders: readonly Claimed[]): Promise<void> {
  await withRawParameters(async (bind) => {
    const texts = (value: (order: Claimed) => string) => bind(textArrayLiteral(orders.map(value)));
    const ids = (value: (order: Claimed) => string | null) =>
      bind(idArrayLiteral(orders.map((order) => value(order) ?? "")));
    await transaction.$executeRaw`
      INSERT INTO "ShopOrder" AS t ("storeId", id, "placedAt", "viewerId", "claimedBy", "alsoClaimedBy", "lsId", channel, "isPaid", "dueAt", state)
      SELECT o.id, e.id, e."placedAt", e."viewerId", e."claimedBy", e."alsoClaimedBy", e."lsId", e.channel, e."isPaid", nullif(e."dueAt", '')::timestamptz, e.state
      FROM "Store" AS o, ROWS FROM (
        unnest(${texts(({ id }) => id)}::text[], ${texts(({ placedAt }) => placedAt.toISOString())}::timestamptz[],
          ${ids(({ viewerId }) => viewerId)}::bytea[], ${ids(({ claimedBy }) => claimedBy)}::bytea[],
          ${ids(({ alsoClaimedBy }) => alsoClaimedBy)}::bytea[], ${texts(({ lsId }) => lsId ?? "")}::text[],
          ${texts(({ channel }) => String(channel === null ? 0 : channelCodes[channel]))}::smallint[],
          ${texts(({ isPaid }) => String(isPaid))}::boolean[], ${texts(({ dueAt }) => dueAt?.toISOString() ?? "")}::text[],
          ${texts(({ money }) => JSON.stringify(money))}::text[]))
        AS e(id, "placedAt", "viewerId", "claimedBy", "alsoClaimedBy", "lsId", channel, "isPaid", "dueAt", state)
      WHERE o.id = ${storeId} ORDER BY e.id
      ON CONFLICT ("storeId", id) DO UPDATE SET "placedAt" = EXCLUDED."placedAt", "viewerId" = EXCLUDED."viewerId",
        "claimedBy" = EXCLUDED."claimedBy", "alsoClaimedBy" = EXCLUDED."alsoClaimedBy", "lsId" = EXCLUDED."lsId", channel = EXCLUDED.channel, "isPaid" = EXCLUDED."isPaid",
        "dueAt" = EXCLUDED."dueAt", state = EXCLUDED.state`;
  });
}
