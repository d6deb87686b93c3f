/**
 * What counts of orders, worked out from the written rules in the plainest way: nothing from src, and no regard to what was known when.
 * Amounts are whole cents.
 */
import type { SentOrder } from "./orders.js";

type Json = Readonly<Record<string, unknown>>;

/** A row of a CSV, which has one for each order. */
export interface FileRow {
  readonly id: string;
  readonly placedAt: number;
  readonly status: string;
  readonly isCancelled: boolean;
  readonly amount: number;
  readonly refunded: number;
  readonly viewerId: string;
  readonly sku: string;
}

/** What is reported of orders. Times are milliseconds since 1970. */
export type Reported =
  | { readonly kind: "hook"; readonly topic: string; readonly payload: Json; readonly receivedAt: number }
  | { readonly kind: "record"; readonly order: SentOrder }
  | { readonly kind: "file"; readonly rows: readonly FileRow[] }
  | { readonly kind: "claim"; readonly id: string; readonly viewerId: string };

interface Line {
  readonly productId: string;
  readonly quantity: number;
  readonly cents: number;
}

interface State {
  /** Infinity for one that names no time. */
  readonly at: number;
  readonly placedAt: number;
  readonly isPaid: boolean;
  readonly isCancelled: boolean;
  readonly amount: number;
  readonly left: number;
  readonly lines: readonly Line[];
  /** What each of its refunds gives back. */
  readonly refunds: ReadonlyMap<string, number>;
  readonly viewerId: string | undefined;
}

const list = (of: Json, name: string) => (of[name] ?? []) as readonly Json[];
const cents = (value: unknown) => Math.round(Number(value ?? 0) * 100);
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
const between = (least: number, value: number, most: number) => Math.max(least, Math.min(value, most));
const idOf = (payload: Json, name = "id") => String(payload[name]).replace("#", "");
/** WooCommerce names no zone. */
const timeOf = (text: unknown) => Date.parse(`${String(text).replace("Z", "")}Z`);

function productOf(line: Json, names: readonly string[], name: string): string {
  const texts = names.map((member) => String((line[member] as string | number | null | undefined) ?? "").trim());
  return texts.find((text) => text !== "" && text !== "0") ?? String(line[name]);
}

/** K1: what a refund gives back. */
function moneyOf(refund: Json, areTaxesIncluded: boolean): number {
  const transactions = list(refund, "transactions").filter(({ kind }) => kind === "refund");
  const succeeded = transactions.filter(({ status }) => status === "success");
  if (transactions.length > 0 && succeeded.length === 0) return 0;
  const own = succeeded.filter(({ currency = "EUR" }) => currency === "EUR");
  if (own.length > 0) return sum(own.map(({ amount }) => cents(amount)));
  const lines = list(refund, "refund_line_items");
  const shipping = list(refund, "refund_shipping_lines").map(({ subtotal_amount_set: set }) =>
    cents((set as { shop_money: Json }).shop_money["amount"]),
  );
  const most =
    sum(lines.map((line) => cents(line["subtotal"]) + (areTaxesIncluded ? 0 : cents(line["total_tax"])))) +
    sum(shipping);
  const adjustments = list(refund, "order_adjustments").filter(
    ({ kind }) => shipping.length === 0 || kind === "refund_discrepancy",
  );
  const adjusted = sum(adjustments.map((item) => cents(item["amount"]) + cents(item["tax_amount"])));
  return between(0, most - adjusted, lines.length === 0 ? Infinity : most);
}

/** K1 and K2. */
function shopifyState(order: Json): State {
  const areTaxesIncluded = order["taxes_included"] === true;
  const refunds = list(order, "refunds");
  const [total, current] = [cents(order["total_price"]), cents(order["current_total_price"])];
  const most = Math.max(total, current);
  const discrepancies = refunds
    .flatMap((refund) => list(refund, "order_adjustments"))
    .filter(({ kind }) => kind === "refund_discrepancy");
  const given = new Map(refunds.map((refund) => [idOf(refund), moneyOf(refund, areTaxesIncluded)]));
  const left = Math.max(
    0,
    Math.min(
      most - sum([...given.values()]),
      current + sum(discrepancies.map((item) => cents(item["amount"]) + cents(item["tax_amount"]))),
    ),
  );
  const status = String(order["financial_status"]);
  const isCancelled = order["cancelled_at"] !== null || status === "voided";
  const hasSucceeded = refunds.some((refund) =>
    list(refund, "transactions").some((one) => one["kind"] === "refund" && one["status"] === "success"),
  );
  return {
    at: timeOf(order["updated_at"]),
    placedAt: timeOf(order["processed_at"]),
    isPaid: ["paid", "partially_refunded", "refunded"].includes(status),
    isCancelled,
    amount: isCancelled || hasSucceeded ? most : left,
    left,
    lines: list(order, "line_items").flatMap((line) => shopifyLine(line, refunds, areTaxesIncluded)),
    refunds: given,
    viewerId: viewerOf(list(order, "note_attributes"), "name"),
  };
}

function shopifyLine(line: Json, refunds: readonly Json[], areTaxesIncluded: boolean): Line[] {
  const isGivenBack = refunds.some(
    (refund) =>
      list(refund, "transactions").length + list(refund, "order_adjustments").length > 0 &&
      list(refund, "refund_line_items").some(({ line_item_id: id }) => id === line["id"]),
  );
  const all = Number(line["quantity"]);
  const quantity = isGivenBack ? all : Math.min(all, Number(line["current_quantity"]));
  const discounts = sum(list(line, "discount_allocations").map(({ amount }) => cents(amount)));
  const taxes = areTaxesIncluded ? 0 : sum(list(line, "tax_lines").map(({ price }) => cents(price)));
  const amount = ((cents(line["price"]) * all - discounts + taxes) * quantity) / (all || 1);
  const productId = productOf(line, ["sku", "variant_id", "product_id"], "title");
  return quantity === 0 ? [] : [{ productId, quantity, cents: amount }];
}

function woocommerceState(order: Json): State {
  const [amount, status] = [cents(order["total"]), String(order["status"])];
  const refunds = list(order, "refunds");
  const isDeposit = status.startsWith("partial");
  return {
    at: timeOf(order["date_modified_gmt"]),
    placedAt: timeOf(order["date_created_gmt"]),
    isPaid: ["processing", "completed", "refunded"].includes(status) || (order["date_paid_gmt"] !== null && !isDeposit),
    isCancelled: ["cancelled", "failed", "trash"].includes(status) || (status === "refunded" && refunds.length === 0),
    amount,
    left: Math.max(0, amount - sum(refunds.map(({ total }) => Math.abs(cents(total))))),
    lines: list(order, "line_items").map((line) => ({
      productId: productOf(line, ["sku", "variation_id", "product_id"], "name"),
      quantity: Number(line["quantity"]),
      cents: cents(line["total"]) + cents(line["total_tax"]),
    })),
    refunds: new Map(refunds.map((refund) => [idOf(refund), Math.abs(cents(refund["total"]))])),
    viewerId: viewerOf(list(order, "meta_data"), "key"),
  };
}

function viewerOf(attributes: readonly Json[], name: string): string | undefined {
  return attributes.find((one) => one[name] === "vitrine_viewer")?.["value"] as string | undefined;
}

function recordedState({ placedAt, amount, lines = [], refunds = [], viewerId }: SentOrder): State {
  return {
    at: Infinity,
    placedAt: Date.parse(placedAt),
    isPaid: true,
    isCancelled: false,
    amount: cents(amount),
    left: cents(amount) - sum(refunds.map((refund) => cents(refund.amount))),
    lines: lines.map(({ productId = "", quantity, amount: own }) => ({ productId, quantity, cents: cents(own) })),
    refunds: new Map(refunds.map((refund, index) => [refund.id ?? `#${index + 1}`, cents(refund.amount)])),
    viewerId,
  };
}

/** K3 and K5. */
const isPaidRow = ({ status }: FileRow) =>
  ["paid", "partially_refunded", "refunded", "wc-processing", "wc-completed", "wc-refunded"].includes(status);
const isGoneRow = ({ status, isCancelled }: FileRow) =>
  isCancelled || ["refunded", "voided", "wc-refunded", "wc-cancelled", "wc-failed", "wc-trash"].includes(status);

/** All that was reported of one order. */
class Order {
  readonly states: State[] = [];
  readonly rows: FileRow[] = [];
  readonly apart = new Map<string, Json>();
  areTaxesIncluded = false;
  deletedAt = -Infinity;
  restoredAt = -Infinity;
  claimedBy: string | undefined;
  sent: Pick<SentOrder, "lsId" | "channel"> = {};

  /** The oldest first. Those without a time are the latest, in the order in which they came. */
  get inTime(): readonly State[] {
    return this.states.toSorted((a, b) => (a.at === b.at ? 0 : a.at - b.at));
  }

  addRow(row: FileRow): void {
    const isKnown = this.states.length + this.rows.length > 0;
    if (isPaidRow(row) || (isGoneRow(row) && isKnown)) this.rows.push(row);
  }

  addHook(topic: string, payload: Json, receivedAt: number): void {
    if (topic === "refunds/create") this.apart.set(idOf(payload), payload);
    else if (topic === "orders/delete" || topic === "order.deleted")
      this.deletedAt = Math.max(this.deletedAt, receivedAt);
    else {
      if (topic === "order.restored") this.restoredAt = Math.max(this.restoredAt, receivedAt);
      this.states.push(topic.startsWith("orders/") ? shopifyState(payload) : woocommerceState(payload));
      this.areTaxesIncluded = payload["taxes_included"] === true;
    }
  }

  /** Undefined where it was not paid. */
  counted(id: string): SentOrder | undefined {
    const { inTime, rows, states } = this;
    const newest = inTime.at(-1);
    const state = newest ?? this.#ofFile();
    if (state === undefined || !(newest === undefined || states.some(({ isPaid }) => isPaid))) return undefined;
    const paid = newest === undefined ? [state] : states.filter(({ isPaid }) => isPaid);
    const gross = Math.max(...paid.map(({ amount }) => amount));
    const viewerId =
      inTime.findLast((one) => one.viewerId !== undefined)?.viewerId ??
      rows.find((row) => row.viewerId !== "")?.viewerId ??
      this.claimedBy;
    const lines = this.#lines(state).map(({ cents: own, ...line }) => ({ ...line, amount: own / 100 }));
    return {
      id,
      placedAt: new Date(state.placedAt).toISOString(),
      amount: gross / 100,
      refunds: [{ amount: this.#refunded(state, gross) / 100 }],
      lines,
      ...(viewerId !== undefined && { viewerId }),
      ...this.sent,
    };
  }

  #ofFile(): State | undefined {
    const row = this.rows[0];
    if (row === undefined) return undefined;
    const { placedAt, amount } = row;
    const money = { amount, left: amount, isPaid: true, isCancelled: false };
    return { at: -Infinity, placedAt, ...money, lines: [], refunds: new Map(), viewerId: undefined };
  }

  #refunded({ at, isCancelled, left, refunds }: State, gross: number): number {
    const isDeleted = this.deletedAt > this.restoredAt && this.deletedAt >= at;
    if (isCancelled || isDeleted || this.rows.some(isGoneRow)) return gross;
    // What was pending when a refund was reported counts once a state says that it succeeded.
    const apart = [...this.apart].flatMap(([id, refund]) => {
      const told = this.inTime.findLast((state) => state.refunds.has(id))?.refunds.get(id);
      return refunds.has(id) ? [] : (told ?? moneyOf(refund, this.areTaxesIncluded));
    });
    const known = between(0, gross - (left - sum(apart)), gross);
    return Math.max(known, Math.min(gross, Math.max(0, ...this.rows.map(({ refunded }) => refunded))));
  }

  #lines({ at, lines, amount }: State): readonly Line[] {
    if (lines.length > 0) return lines;
    const lined = this.inTime.findLast((state) => state.lines.length > 0);
    if (at !== Infinity && lined?.amount === amount) return lined.lines;
    const row = this.rows.find(({ sku }) => sku !== "");
    return row === undefined ? [] : [{ productId: row.sku, quantity: 1, cents: row.amount }];
  }
}

/** What counts of each order, as one state of it that has all. */
export function countedOrders(reported: readonly Reported[]): Map<string, SentOrder> {
  const orders = new Map<string, Order>();
  const of = (id: string) => {
    const order = orders.get(id) ?? new Order();
    orders.set(id, order);
    return order;
  };
  for (const one of reported) {
    if (one.kind === "claim") of(one.id).claimedBy ??= one.viewerId;
    else if (one.kind === "file") for (const row of one.rows) of(row.id).addRow(row);
    else if (one.kind === "record") {
      const { id, lsId, channel } = one.order;
      of(id).states.push(recordedState(one.order));
      if (lsId !== undefined && channel !== undefined) of(id).sent = { lsId, channel };
    } else
      of(idOf(one.payload, one.topic === "refunds/create" ? "order_id" : "id")).addHook(
        one.topic,
        one.payload,
        one.receivedAt,
      );
  }
  const parts = partsOf(reported);
  const counted = [...orders].map(([id, order]) => [id, parts.has(id) ? undefined : order.counted(id)] as const);
  return new Map(counted.flatMap(([id, order]) => (order === undefined ? [] : [[id, order] as const])));
}

/** K4: the vendors' parts of other orders. */
function partsOf(reported: readonly Reported[]): ReadonlySet<string> {
  const payloads = reported.flatMap((one) => (one.kind === "hook" ? [one.payload] : []));
  const divided = payloads.filter((payload) =>
    list(payload, "meta_data").some(({ key, value }) => key === "has_sub_order" && value === "1"),
  );
  const parents = new Set(divided.map((payload) => idOf(payload)));
  const parts = payloads.filter(
    (payload) =>
      Boolean(payload["parent_id"]) && (payload["created_via"] === "dokan" || parents.has(idOf(payload, "parent_id"))),
  );
  return new Set(parts.map((payload) => idOf(payload)));
}
