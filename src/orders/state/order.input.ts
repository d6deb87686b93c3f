import type { Database, RootDatabase } from "../../database/client.js";
import { AppError, errorAt, Problems } from "../../errors.js";
import { withChannels } from "../../events/record/events.record.js";
import { currencyOf } from "../../stores/store.currency.js";
import type { Channel } from "../../events/events.input.js";
import { findLiveStream, startWhenDue } from "../../shows/liveStream.js";
import type { OrderLine, OrderState } from "./order.state.js";
import { checkOrder, type OrderInput, type OrderLineInput } from "./order.rules.js";
import { fromUnits, toUnits } from "../../lib/money.js";

const ordersMax = 2_000;

/**
 * The states of orders that a caller sends.
 *
 * @throws {AppError} VALIDATION_FAILED naming each invalid value by its place, or LIVE_STREAM_NOT_FOUND
 */
export async function statesOf(
  db: RootDatabase,
  storeId: string,
  orders: readonly OrderInput[],
): Promise<OrderState[]> {
  if (orders.length > ordersMax) {
    throw errorAt("VALIDATION_FAILED", `A call may have at most ${ordersMax} orders.`, ["orders"]);
  }
  const currency = await currencyOf(db, storeId, true);
  const problems = new Problems();
  orders.forEach((order, index) => checkOrder(order, ["orders", index], problems, currency));
  problems.throwIfAny();
  const allLines = orders.flatMap(({ lines, refunds }) => [
    ...(lines ?? []),
    ...(refunds ?? []).flatMap((refund) => refund.lines ?? []),
  ]);
  const products = await productsOfNames(db, storeId, allLines.flatMap(namesOf));
  const channels = await channelsOf(db, storeId, orders);
  return orders.map((order, index) => orderState(order, channels[index] ?? null, (line) => orderLine(line, products)));
}

function orderState(
  order: OrderInput,
  channel: Channel | null,
  toLine: (line: OrderLineInput) => OrderLine,
): OrderState {
  const { id, placedAt, amount, viewerId, lines, lsId } = order;
  const refunds = (order.refunds ?? []).map((refund, index) => ({
    id: refund.id || `#${index + 1}`,
    at: (refund.at ?? placedAt).getTime(),
    amount: refund.amount,
    lines: (refund.lines ?? []).map(toLine),
  }));
  const refunded = refunds.reduce((units, refund) => units + toUnits(refund.amount), 0);
  return {
    kind: "state",
    id,
    placedAt,
    changedAt: undefined,
    isPaid: true,
    isCancelled: false,
    amount,
    remaining: fromUnits(toUnits(amount) - refunded),
    lines: (lines ?? []).map(toLine),
    refunds,
    viewerId: viewerId ?? null,
    lsId: lsId ?? null,
    channel,
  };
}

function orderLine(line: OrderLineInput, products: ReadonlyMap<string, string>): OrderLine {
  const { productId, quantity, amount } = line;
  return { productId: productId || productOf(namesOf(line), products), quantity, amount };
}

/** The names in a line that does not name its product by reference id. */
function namesOf({ productId, sku, names }: OrderLineInput): readonly string[] {
  return productId ? [] : (names ?? [sku?.trim() ?? ""]);
}

/** The reference ids of the catalog's products by names, which are ids or else skus. */
export async function productsOfNames(
  db: Database,
  storeId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const distinct = [...new Set(names)];
  if (distinct.length === 0) return new Map();
  const products = await db.product.findMany({
    where: { storeId, OR: [{ id: { in: distinct } }, { sku: { in: distinct } }] },
    select: { id: true, sku: true },
  });
  return new Map([
    ...products.map(({ id, sku }) => [sku, id] as const),
    ...products.map(({ id }) => [id, id] as const),
  ]);
}

/** The product of a line: the first of its names that the catalog has, else the first name. */
export function productOf(names: readonly string[], products: ReadonlyMap<string, string>): string {
  const known = names.find((name) => products.has(name));
  return products.get(known ?? "") ?? names[0] ?? "unknown";
}

/** Makes scheduled shows live whose start has passed. */
async function channelsOf(
  db: RootDatabase,
  storeId: string,
  orders: readonly OrderInput[],
): Promise<(Channel | null)[]> {
  const channels: (Channel | null)[] = orders.map(() => null);
  const byShow = new Map<string, number[]>();
  orders.forEach(({ lsId }, index) => {
    if (lsId) byShow.set(lsId, [...(byShow.get(lsId) ?? []), index]);
  });
  for (const [lsId, indexes] of byShow) {
    const { status } = await findLiveStream(db, storeId, lsId).catch((error: unknown) => {
      throw errorAtOrder(error, indexes[0] ?? 0);
    });
    if (status === "SCHEDULED") await startWhenDue(db, storeId, lsId);
    const sent = indexes.map((index) => ({
      id: "",
      type: "ORDER" as const,
      channel: orders[index]?.channel ?? "AUTO",
      occurredAt: orders[index]?.placedAt,
    }));
    const known = await withChannels(db, storeId, lsId, sent);
    indexes.forEach((index, at) => (channels[index] = known[at]?.channel ?? null));
  }
  return channels;
}

function errorAtOrder(error: unknown, index: number): unknown {
  const isMissing = error instanceof AppError && error.code === "LIVE_STREAM_NOT_FOUND";
  return isMissing ? errorAt("LIVE_STREAM_NOT_FOUND", error.message, ["orders", index, "lsId"]) : error;
}
