import { exact } from "../orders/units.js";
import { type HookLine, linesMax, type HookNews, type ReadDelivery, viewerAttribute } from "./news.js";
import {
  amountOf,
  idOf,
  keyOf,
  type Json,
  listOf,
  parsePayload,
  PayloadError,
  quantityOf,
  textOf,
  timeOf,
  viewerIdOf,
} from "./payload.js";

/** What it sends, unsigned, when a hook is saved. */
const ping = /^webhook_id=\d+$/u;
const paid = new Set(["processing", "completed", "refunded"]);
const cancelled = new Set(["cancelled", "failed", "trash"]);

export function isPing(body: Buffer): boolean {
  return body.length < 100 && ping.test(body.toString());
}

/** Deliveries of WooCommerce: https://woocommerce.github.io/woocommerce-rest-api-docs/#webhooks */
export const readWoocommerce: ReadDelivery = (topic, body, receivedAt) => {
  if (topic === "order.deleted") return { kind: "deletion", id: idOf(parsePayload(body), "id"), at: receivedAt };
  if (topic !== "order.created" && topic !== "order.updated") return "unknown";
  return stateOf(parsePayload(body));
};

function stateOf(order: Json): HookNews {
  const gross = amountOf(order, "total");
  const placedAt = timeOf(order, "date_created_gmt");
  if (gross === undefined || placedAt === undefined) throw new PayloadError("total or date_created_gmt is missing.");
  const changedAt = timeOf(order, "date_modified_gmt") ?? placedAt;
  // They come without a time of their own.
  const refunds = listOf(order, "refunds").map((refund) => ({
    id: idOf(refund, "id"),
    at: changedAt.getTime(),
    amount: Math.abs(amountOf(refund, "total") ?? 0),
    lines: [],
  }));
  const status = textOf(order, "status") ?? "";
  const refunded = refunds.reduce((sum, { amount }) => sum + amount, 0);
  return {
    kind: "state",
    id: idOf(order, "id"),
    placedAt,
    changedAt,
    isPaid: textOf(order, "date_paid_gmt") !== undefined || paid.has(status),
    isCancelled: cancelled.has(status) || (status === "refunded" && refunds.length === 0),
    amount: gross,
    remaining: Math.max(0, exact(gross - refunded)),
    currency: textOf(order, "currency"),
    lines: listOf(order, "line_items").slice(0, linesMax).map(lineOf),
    refunds,
    viewerId: viewerOf(order),
    lsId: null,
    channel: null,
  };
}

function lineOf(line: Json): HookLine {
  const amount = Math.max(0, (amountOf(line, "total") ?? 0) + (amountOf(line, "total_tax") ?? 0));
  return {
    sku: keyOf(line, "sku"),
    productId: keyOf(line, "product_id", "name") ?? "unknown",
    quantity: quantityOf(line),
    amount: exact(amount),
  };
}

function viewerOf(order: Json): string | null {
  const meta = listOf(order, "meta_data").find((item) => item["key"] === viewerAttribute);
  return viewerIdOf(typeof meta?.["value"] === "string" && meta["value"] !== "" ? meta["value"] : undefined);
}
