import type { Database } from "../../database/client.js";
import { withRawParameters, textArrayLiteral } from "../../database/rawParameters.js";
import type { KnownOrder, OrderLine } from "../state/order.state.js";
import type { AttributedPart, PartRefund } from "./attribution.js";
import { type AttributionRule, type Reason, reasonCodes, ruleCodes } from "../../database/codes.js";

const rules = new Map<number, AttributionRule>(
  Object.entries(ruleCodes).map(([name, code]) => [code, name as AttributionRule]),
);
const reasons = new Map<number, Reason>(Object.entries(reasonCodes).map(([name, code]) => [code, name as Reason]));

interface PartRow {
  readonly orderId: string;
  readonly show: number;
  readonly channel: number;
  readonly rule: number;
  readonly reason: number;
  readonly at: Date;
  readonly seconds: number;
  readonly productId: string;
  readonly amount: number;
  readonly refunded: number;
  readonly lines: string;
  readonly refunds: string;
}

function partOf(row: PartRow): AttributedPart {
  const { show, channel, at, seconds, productId, amount, refunded } = row;
  return {
    rule: rules.get(row.rule) ?? "AS_SENT",
    show,
    channel,
    reason: reasons.get(row.reason) ?? "NOT_SENT",
    at,
    seconds,
    productId,
    amount,
    refunded,
    lines: JSON.parse(row.lines) as OrderLine[],
    refunds: JSON.parse(row.refunds) as PartRefund[],
  };
}

/** The parts of orders as they count now, by order. */
export async function partsBefore(
  db: Database,
  storeId: string,
  orders: readonly Pick<KnownOrder, "id">[],
): Promise<ReadonlyMap<string, AttributedPart[]>> {
  const ids = textArrayLiteral(orders.map(({ id }) => id));
  const rows = await withRawParameters(
    (bind) => db.$queryRaw<PartRow[]>`
      SELECT "orderId", show, channel::int, rule::int, reason::int, at, seconds::float8 AS seconds, "productId", amount::float8 AS amount,
        refunded::float8 AS refunded, lines, refunds
      FROM "OrderPart" WHERE "storeId" = ${storeId} AND "orderId" = ANY(${bind(ids)}::text[]) ORDER BY "orderId", place`,
  );
  const parts = new Map<string, AttributedPart[]>();
  for (const row of rows) parts.set(row.orderId, [...(parts.get(row.orderId) ?? []), partOf(row)]);
  return parts;
}

interface PartsOfOrder {
  readonly order: Pick<KnownOrder, "id" | "placedAt">;
  readonly parts: readonly AttributedPart[];
}

/** Replaces the parts of orders. */
export async function saveParts(
  transaction: Database,
  storeId: string,
  orders: readonly PartsOfOrder[],
): Promise<void> {
  if (orders.length === 0) return;
  const rows = orders.flatMap(({ order, parts }) => parts.map((part, place) => ({ ...part, order, place })));
  await withRawParameters(async (bind) => {
    const texts = (value: (row: (typeof rows)[number]) => string | number) =>
      bind(textArrayLiteral(rows.map((row) => String(value(row)))));
    await transaction.$executeRaw`
      DELETE FROM "OrderPart" WHERE "storeId" = ${storeId}
        AND "orderId" = ANY(${bind(textArrayLiteral(orders.map(({ order }) => order.id)))}::text[])`;
    if (rows.length === 0) return;
    await transaction.$executeRaw`
      INSERT INTO "OrderPart" ("storeId", "orderId", place, "placedAt", at, show, channel, rule, reason, "productId", amount, refunded,
        seconds, lines, refunds)
      SELECT o.id, e."orderId", place, "placedAt", at, show, channel, rule, reason, "productId", amount, refunded, seconds, lines, refunds
      FROM "Store" AS o, ROWS FROM (
        unnest(${texts(({ order }) => order.id)}::text[], ${texts(({ place }) => place)}::smallint[],
          ${texts(({ order }) => order.placedAt.toISOString())}::timestamptz[], ${texts(({ at }) => at.toISOString())}::timestamptz[],
          ${texts(({ show }) => show)}::int[], ${texts(({ channel }) => channel)}::smallint[],
          ${texts(({ rule }) => ruleCodes[rule])}::smallint[], ${texts(({ reason }) => reasonCodes[reason])}::smallint[],
          ${texts(({ productId }) => productId)}::text[], ${texts(({ amount }) => amount)}::numeric[],
          ${texts(({ refunded }) => refunded)}::numeric[], ${texts(({ seconds }) => seconds)}::numeric[],
          ${texts(({ lines }) => JSON.stringify(lines))}::text[], ${texts(({ refunds }) => JSON.stringify(refunds))}::text[]))
        AS e("orderId", place, "placedAt", at, show, channel, rule, reason, "productId", amount, refunded, seconds, lines, refunds)
      WHERE o.id = ${storeId}`;
  });
}
