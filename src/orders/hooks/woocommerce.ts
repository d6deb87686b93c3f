import { canBeKey } from "../../lib/text.js";
import type { Family } from "../state/order.family.js";
import { exact } from "../../lib/money.js";
import { type HookLine, type HookRefund, type HookState, keptLines, type Note, type ReadDelivery } from "./delivery.js";
import {
  amountOf,
  idOf,
  type Json,
  listOf,
  namesOf,
  parsePayload,
  PayloadError,
  quantityOf,
  textMember,
  timeOf,
  viewerOf,
} from "./payload.js";

/** What it sends, unsigned, when a hook is saved. */
const ping = /^webhook_id=\d+$/u;
const paid = new Set(["processing", "completed", "refunded"]);
const cancelled = new Set(["cancelled", "failed", "trash"]);
/** A deposit: plugins write it with a time of payment. */
const partlyPaid = /^partial(?!.*refund)/u;
/** How the plugins of marketplaces make the vendors' parts of an order. */
const ofVendors = new Set(["dokan", "mvx_vendor_order", "wcmp_vendor_order", "yith_wcmv_vendor_suborder"]);
/** What they note on an order that they have divided: `has_sub_order`, `has_mvx_sub_order`. */
const dividedKey = /^_?has_(?:[a-z]+_)?sub_order$/u;
const no: ReadonlySet<unknown> = new Set(["", "0", "no", "false", 0, false, null, undefined]);

export function isPing(body: Buffer): boolean {
  return body.length < 100 && ping.test(body.toString());
}

/** Deliveries of WooCommerce: https://woocommerce.github.io/woocommerce-rest-api-docs/#webhooks */
export const readWoocommerce: ReadDelivery = (topic, delivered) => {
  const { body, receivedAt, note } = delivered;
  if (topic === "order.deleted") return { kind: "deletion", id: idOf(parsePayload(body), "id"), at: receivedAt };
  if (topic === "order.restored") return { ...stateOfWoocommerce(parsePayload(body), note), restoredAt: receivedAt };
  const isState = topic === "order.created" || topic === "order.updated";
  return isState ? stateOfWoocommerce(parsePayload(body), note) : "unknown";
};

/** An order as the REST API has it: wc/v3. @throws {PayloadError} */
export function stateOfWoocommerce(order: Json, note: Note): HookState {
  requireCurrentPayload(order);
  if (textMember(order, "status") === undefined) throw new PayloadError("status is missing.");
  const amount = amountOf(order, "total");
  const placedAt = timeOf(order, "date_created_gmt");
  if (amount === undefined || placedAt === undefined) throw new PayloadError("total or date_created_gmt is missing.");
  if (amount < 0) throw new PayloadError("total is negative: that is no order.");
  const changedAt = timeOf(order, "date_modified_gmt") ?? placedAt;
  const refunds = refundsOf(order, changedAt);
  const refunded = refunds.reduce((sum, refund) => sum + refund.amount, 0);
  return {
    kind: "state",
    id: idOf(order, "id"),
    placedAt,
    changedAt,
    ...statusOf(order, refunds.length > 0),
    amount,
    remaining: Math.max(0, exact(amount - refunded)),
    currency: textMember(order, "currency"),
    lines: keptLines(listOf(order, "line_items"), note).flatMap((line) => hookLine(line, note)),
    refunds,
    viewerId: viewerOf(order, "meta_data", "key", note),
    lsId: null,
    channel: null,
    ...familyOf(order),
  };
}

function familyOf(order: Json): Family {
  const parentId = textMember(order, "parent_id");
  const isChild = parentId !== undefined && !["0", textMember(order, "id")].includes(parentId) && canBeKey(parentId);
  const isPart = isChild && ofVendors.has(textMember(order, "created_via") ?? "");
  return { ...(isChild && { parentId }), ...(isPart && { isPart }), ...(isDivided(order) && { hasParts: true }) };
}

function isDivided(order: Json): boolean {
  const attributes = order["meta_data"];
  if (typeof attributes !== "object" || attributes === null) return false;
  return Object.values(attributes as Record<string, Json | null>).some((attribute) => {
    const key = attribute?.["key"];
    return typeof key === "string" && dividedKey.test(key) && !no.has(attribute?.["value"]);
  });
}

function statusOf(order: Json, hasRefunds: boolean) {
  const status = (textMember(order, "status") ?? "").toLowerCase().replace(/^wc-/u, "");
  const hasPaidTime = textMember(order, "date_paid_gmt") !== undefined && !partlyPaid.test(status);
  const isCancelled = cancelled.has(status) || (status === "refunded" && !hasRefunds);
  return { isPaid: paid.has(status) || hasPaidTime, isCancelled };
}

/** They come without a time of their own. */
function refundsOf(order: Json, changedAt: Date): HookRefund[] {
  return listOf(order, "refunds").map((refund) => {
    const total = amountOf(refund, "total");
    if (total === undefined) throw new PayloadError("The total of a refund is missing.");
    return { id: idOf(refund, "id"), at: changedAt.getTime(), amount: Math.abs(total), lines: [] };
  });
}

/** @throws {PayloadError} for what WooCommerce sends in place of an order, saying what to set there */
function requireCurrentPayload(order: Json): void {
  const isOld = order["date_created"] !== undefined && order["date_created_gmt"] === undefined; // wc/v1
  if (typeof order["order"] === "object" || typeof order["orders"] === "object" || isOld) {
    throw new PayloadError("The payload is of the legacy API: choose the WP REST API Integration v3 for the webhook.");
  }
  if (order["id"] === undefined && (typeof order["code"] === "string" || typeof order["errors"] === "object")) {
    throw new PayloadError(
      "The payload is an error of WooCommerce: the webhook's user must be allowed to read orders.",
    );
  }
}

function hookLine(line: Json, note: Note): HookLine[] {
  const quantity = quantityOf(line);
  const amount = Math.max(0, exact((amountOf(line, "total") ?? 0) + (amountOf(line, "total_tax") ?? 0)));
  return quantity === 0
    ? []
    : [{ names: namesOf(line, ["sku", "variation_id", "product_id"], "name", note), quantity, amount }];
}
