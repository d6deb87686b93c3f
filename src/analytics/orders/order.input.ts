import type { RootDatabase } from "../../database/client.js";
import { AppError, errorAt, Problems } from "../../errors.js";
import { withChannels } from "../events/autoChannel.js";
import { currencyOf } from "../../access/stores/store.currency.js";
import type { Channel } from "../events/events.input.js";
import { findLiveStream } from "../shows/liveStream.js";
import { startWhenDue } from "../shows/liveStream.start.js";
import type { OrderLine, OrderState } from "./order.state.js";
import { checkOrder, type OrderInput, type OrderLineInput } from "./order.rules.js";
import { productsOfSkus } from "./products.js";
import { fromUnits, toUnits } from "./units.js";

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
  const products = await productsOfSkus(
    db,
    storeId,
    allLines.flatMap(({ productId, sku }) => (productId || !sku ? [] : [sku])),
  );
  const channels = await channelsOf(db, storeId, orders);
  return orders.map((order, index) => stateOf(order, channels[index] ?? null, (line) => lineOf(line, products)));
}

function stateOf(order: OrderInput, channel: Channel | null, toLine: (line: OrderLineInput) => OrderLine): OrderState {
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

function lineOf(
  { productId, sku, quantity, amount }: OrderLineInput,
  products: ReadonlyMap<string, string>,
): OrderLine {
  return { productId: productId || (products.get(sku ?? "") ?? sku ?? ""), quantity, amount };
}

/** A scheduled show whose start has passed goes live. */
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
