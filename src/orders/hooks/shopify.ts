import { exact } from "../../lib/money.js";
import { type HookLine, type HookRefund, type HookState, keptLines, type Note, type ReadDelivery } from "./delivery.js";
import {
  amountOf,
  idOf,
  type Json,
  listOf,
  namesOf,
  objectOf,
  parsePayload,
  PayloadError,
  quantityOf,
  textMember,
  timeOf,
  viewerOf,
} from "./payload.js";

const states = new Set(["orders/create", "orders/paid", "orders/updated", "orders/cancelled"]);
const noStatus =
  "financial_status is missing, so nothing says whether the order was paid: let the webhook send all fields.";
/** They follow one of these. */
const paid = new Set(["paid", "partially_refunded", "refunded"]);

/** Deliveries of Shopify: https://shopify.dev/docs/api/admin-rest/latest/resources/webhook */
export const readShopify: ReadDelivery = (topic, delivered) => {
  const { body, receivedAt, currency, note } = delivered;
  if (topic === "orders/edited") return undefined; // it has no amounts; orders/updated follows
  if (topic === "orders/delete") return { kind: "deletion", id: idOf(parsePayload(body), "id"), at: receivedAt };
  if (topic === "refunds/create") {
    const refund = parsePayload(body);
    return { kind: "refund", id: idOf(refund, "order_id"), refund: refundOf(refund, { currency, note }) };
  }
  return states.has(topic) ? stateOfShopify(parsePayload(body), note) : "unknown";
};

/** An order as the REST API has it. @throws {PayloadError} */
export function stateOfShopify(order: Json, note: Note): HookState {
  const total = amountOf(order, "total_price");
  const placedAt = timeOf(order, "processed_at") ?? timeOf(order, "created_at");
  if (total === undefined || placedAt === undefined) throw new PayloadError("total_price or created_at is missing.");
  if (total < 0) throw new PayloadError("total_price is negative: that is no order.");
  const currency = textMember(order, "currency");
  const areTaxesIncluded = order["taxes_included"] === true;
  const sent = listOf(order, "refunds");
  const refunds = sent.map((refund) => refundOf(refund, { currency: currency ?? null, areTaxesIncluded, note }));
  const status = textMember(order, "financial_status");
  if (status === undefined) throw new PayloadError(noStatus);
  const isCancelled = textMember(order, "cancelled_at") !== undefined || status === "voided";
  const { most, remaining } = leftOf(order, total, { sent, refunds });
  const isGivenBack = isCancelled || sent.some((refund) => transactionsOf(refund).some(hasSucceeded));
  return {
    kind: "state",
    id: idOf(order, "id"),
    placedAt,
    changedAt: timeOf(order, "updated_at") ?? placedAt,
    isPaid: paid.has(status),
    isCancelled,
    amount: isGivenBack ? most : remaining,
    remaining,
    areTaxesIncluded,
    currency,
    lines: linesOf(order, { sent, areTaxesIncluded, note }),
    refunds,
    viewerId: viewerOf(order, "note_attributes", "name", note),
    lsId: null,
    channel: null,
  };
}

interface GivenBack {
  readonly sent: readonly Json[];
  readonly refunds: readonly HookRefund[];
}

/** The most that the order came to, and what its refunds and changes have left of that. */
function leftOf(order: Json, total: number, { sent, refunds }: GivenBack) {
  const current = amountOf(order, "current_total_price");
  const most = Math.max(total, current ?? 0);
  const refunded = refunds.reduce((sum, { amount }) => sum + amount, 0);
  // Shopify takes what it has calculated for a refund from the current total, and not what was paid back.
  const discrepancies = sent.reduce((sum, refund) => sum + adjustedBy(adjustmentsOf(refund).filter(isDiscrepancy)), 0);
  const changed = current === undefined ? most : current + discrepancies;
  return { most, remaining: Math.max(0, exact(Math.min(most - refunded, changed))) };
}

/** The lines that were sold: those of quantity 0 were not, nor is what an edit has removed and no refund gives back. */
function linesOf(
  order: Json,
  { sent, areTaxesIncluded, note }: { sent: readonly Json[]; areTaxesIncluded: boolean; note: Note },
): HookLine[] {
  const givenBack = new Set(
    sent
      .filter((refund) => listOf(refund, "transactions").length > 0 || adjustmentsOf(refund).length > 0)
      .flatMap((refund) =>
        listOf(refund, "refund_line_items").flatMap((line) => textMember(line, "line_item_id") ?? []),
      ),
  );
  return keptLines(listOf(order, "line_items"), note).flatMap((line) => {
    const all = quantityOf(line);
    const isSold = givenBack.has(textMember(line, "id") ?? "") || (line["current_quantity"] ?? null) === null;
    const quantity = isSold ? all : Math.min(all, quantityOf(line, "current_quantity"));
    if (quantity === 0) return [];
    const discounts = sumOf(listOf(line, "discount_allocations"));
    const taxes = areTaxesIncluded ? 0 : sumOf(listOf(line, "tax_lines"), "price");
    const amount = (amountOf(line, "price") ?? 0) * all - discounts + taxes;
    return [{ names: productOf(line, note), quantity, amount: Math.max(0, exact((amount * quantity) / all)) }];
  });
}

function productOf(line: Json, note: Note): readonly string[] {
  return namesOf(line, ["sku", "variant_id", "product_id"], "title", note);
}

interface OfOrder {
  /** Of the order, or of the store: a transaction may be in the shopper's own. */
  readonly currency: string | null;
  /** Undefined where the order is not known. */
  readonly areTaxesIncluded?: boolean;
  readonly note: Note;
}

function refundOf(refund: Json, { currency, areTaxesIncluded, note }: OfOrder): HookRefund {
  const lines = keptLines(listOf(refund, "refund_line_items"), note);
  const lineAmount = (line: Json) =>
    exact((amountOf(line, "subtotal") ?? 0) + (areTaxesIncluded === true ? 0 : (amountOf(line, "total_tax") ?? 0)));
  const given = paidBackOf(refund, currency);
  const amount = given ?? calculatedOf(refund, areTaxesIncluded === true);
  const withTaxes = given ?? calculatedOf(refund, true);
  return {
    id: idOf(refund, "id"),
    at: (timeOf(refund, "processed_at") ?? timeOf(refund, "created_at") ?? new Date(0)).getTime(),
    amount,
    ...(areTaxesIncluded === undefined && withTaxes !== amount && { amountWithTaxes: withTaxes }),
    ...(areTaxesIncluded === undefined &&
      sumOf(lines, "total_tax") > 0 && {
        linesWithTaxes: lines.map((line) => Math.max(0, amountOf(line, "subtotal") ?? 0)),
      }),
    lines: lines.map((line) => ({
      names: productOf(objectOf(line["line_item"] ?? {}, "line_item"), note),
      quantity: Math.max(1, quantityOf(line)),
      amount: Math.max(0, lineAmount(line)),
    })),
  };
}

/**
 * The money of a refund's transactions that succeeded: 0 where none did, since pending ones may yet fail. Undefined where there are
 * no transactions, or where those that succeeded are in another currency.
 */
function paidBackOf(refund: Json, currency: string | null): number | undefined {
  const transactions = transactionsOf(refund);
  const succeeded = transactions.filter(hasSucceeded);
  if (succeeded.length === 0) return transactions.length > 0 ? 0 : undefined;
  const own = succeeded.filter((transaction) => {
    const given = textMember(transaction, "currency");
    return given === undefined || currency === null || given.toUpperCase() === currency.toUpperCase();
  });
  return own.length > 0 ? Math.max(0, sumOf(own)) : undefined;
}

/** What Shopify has calculated for a refund: of its lines and shipping, and what was adjusted by hand. */
function calculatedOf(refund: Json, areTaxesIncluded: boolean): number {
  const lines = listOf(refund, "refund_line_items");
  const shipping = listOf(refund, "refund_shipping_lines");
  const ofLines = sumOf(lines, "subtotal") + (areTaxesIncluded ? 0 : sumOf(lines, "total_tax"));
  const ofShipping = shipping.reduce((sum, line) => sum + shopMoneyOf(line, "subtotal_amount_set"), 0);
  // Shipping is an adjustment too, in payloads that have no lines of it.
  const adjustments = adjustmentsOf(refund).filter((item) => shipping.length === 0 || isDiscrepancy(item));
  const most = lines.length > 0 ? ofLines + ofShipping : Infinity;
  return exact(Math.max(0, Math.min(most, ofLines + ofShipping - adjustedBy(adjustments))));
}

function transactionsOf(refund: Json): readonly Json[] {
  return listOf(refund, "transactions").filter((transaction) => textMember(transaction, "kind") === "refund");
}

function hasSucceeded(transaction: Json): boolean {
  return textMember(transaction, "status") === "success";
}

function adjustmentsOf(refund: Json): readonly Json[] {
  return listOf(refund, "order_adjustments");
}

function isDiscrepancy(adjustment: Json): boolean {
  return textMember(adjustment, "kind") === "refund_discrepancy";
}

function adjustedBy(adjustments: readonly Json[]): number {
  return sumOf(adjustments) + sumOf(adjustments, "tax_amount");
}

function shopMoneyOf(parent: Json, name: string): number {
  const set = objectOf(parent[name] ?? {}, name);
  return amountOf(objectOf(set["shop_money"] ?? {}, "shop_money"), "amount") ?? 0;
}

function sumOf(items: readonly Json[], name = "amount"): number {
  return items.reduce((sum, item) => sum + (amountOf(item, name) ?? 0), 0);
}
