import { exact } from "../orders/units.js";
import { type HookLine, linesMax, type HookNews, type ReadDelivery, viewerAttribute } from "./news.js";
import {
  amountOf,
  idOf,
  keyOf,
  type Json,
  listOf,
  objectOf,
  parsePayload,
  PayloadError,
  quantityOf,
  textOf,
  timeOf,
  viewerIdOf,
} from "./payload.js";

const states = new Set(["orders/create", "orders/paid", "orders/updated", "orders/cancelled"]);
/** They follow one of these. */
const paid = new Set(["paid", "partially_refunded", "refunded"]);

/** Deliveries of Shopify: https://shopify.dev/docs/api/admin-rest/latest/resources/webhook */
export const readShopify: ReadDelivery = (topic, body) => {
  if (topic === "orders/edited") return undefined; // it has no amounts; orders/updated follows
  if (topic === "refunds/create") return refundNews(parsePayload(body));
  return states.has(topic) ? stateOf(parsePayload(body)) : "unknown";
};

function stateOf(order: Json): HookNews {
  const gross = amountOf(order, "total_price");
  const placedAt = timeOf(order, "processed_at") ?? timeOf(order, "created_at");
  if (gross === undefined || placedAt === undefined) throw new PayloadError("total_price or created_at is missing.");
  const refunds = listOf(order, "refunds").map(refundOf);
  const status = textOf(order, "financial_status") ?? "";
  const refunded = refunds.reduce((sum, { amount }) => sum + amount, 0);
  return {
    kind: "state",
    id: idOf(order, "id"),
    placedAt,
    changedAt: timeOf(order, "updated_at") ?? placedAt,
    isPaid: paid.has(status),
    isCancelled: textOf(order, "cancelled_at") !== undefined || status === "voided",
    amount: gross,
    remaining: amountOf(order, "current_total_price") ?? Math.max(0, gross - refunded),
    currency: textOf(order, "currency"),
    lines: listOf(order, "line_items").slice(0, linesMax).map(lineOf),
    refunds,
    viewerId: viewerOf(order),
    lsId: null,
    channel: null,
  };
}

function lineOf(line: Json): HookLine {
  const quantity = quantityOf(line);
  const discounts = listOf(line, "discount_allocations").reduce(
    (sum, item) => sum + (amountOf(item, "amount") ?? 0),
    0,
  );
  return {
    ...productOf(line),
    quantity,
    amount: Math.max(0, exact((amountOf(line, "price") ?? 0) * quantity - discounts)),
  };
}

function productOf(line: Json) {
  return {
    sku: keyOf(line, "sku"),
    productId: keyOf(line, "product_id", "variant_id", "title") ?? "unknown",
  };
}

function refundNews(refund: Json): HookNews {
  return { kind: "refund", id: idOf(refund, "order_id"), refund: refundOf(refund) };
}

function refundOf(refund: Json) {
  const lines = listOf(refund, "refund_line_items").slice(0, linesMax);
  const given = listOf(refund, "transactions")
    .filter((transaction) => textOf(transaction, "kind") === "refund" && textOf(transaction, "status") !== "failure")
    .reduce((sum, transaction) => sum + (amountOf(transaction, "amount") ?? 0), 0);
  const amounts = lines.map((line) => exact((amountOf(line, "subtotal") ?? 0) + (amountOf(line, "total_tax") ?? 0)));
  return {
    id: idOf(refund, "id"),
    at: (timeOf(refund, "processed_at") ?? timeOf(refund, "created_at") ?? new Date(0)).getTime(),
    amount: exact(given > 0 ? given : amounts.reduce((sum, amount) => sum + amount, 0)),
    lines: lines.map((line, index) => ({
      ...productOf(objectOf(line["line_item"] ?? {}, "line_item")),
      quantity: quantityOf(line),
      amount: amounts[index] ?? 0,
    })),
  };
}

function viewerOf(order: Json): string | null {
  const attribute = listOf(order, "note_attributes").find((item) => textOf(item, "name") === viewerAttribute);
  return viewerIdOf(attribute && textOf(attribute, "value"));
}
