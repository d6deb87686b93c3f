import { decimalsOf } from "../../stores/store.currency.js";
import type { Path, Problems } from "../../errors.js";
import { mustBe } from "../../lib/mustBe.js";
import { isStorable } from "../../lib/text.js";
import {
  amountMax,
  checkCurrency,
  checkDecimals,
  checkIdentifies,
  checkLineSum,
  checkPast,
  checkQuantity,
  checkRange,
  latestMoment,
  type Report,
  type SentChannel,
} from "../../events/events.input.js";
import { checkText } from "../../shows/liveStream.input.js";
import { decimalsMax, fromUnits, toUnits } from "../../lib/money.js";

export interface OrderLineInput {
  readonly productId?: string | null | undefined;
  readonly sku?: string | null | undefined;
  /** How files name the product, instead of the sku: the first name that the catalog has counts. */
  readonly names?: readonly string[] | undefined;
  readonly quantity: number;
  readonly amount: number;
}

interface OrderRefundInput {
  readonly id?: string | null | undefined;
  readonly at?: Date | null | undefined;
  readonly amount: number;
  readonly lines?: readonly OrderLineInput[] | null | undefined;
}

export interface OrderInput {
  readonly id: string;
  readonly placedAt: Date;
  readonly amount: number;
  readonly currency?: string | null | undefined;
  readonly viewerId?: string | null | undefined;
  readonly lines?: readonly OrderLineInput[] | null | undefined;
  readonly refunds?: readonly OrderRefundInput[] | null | undefined;
  readonly lsId?: string | null | undefined;
  readonly channel?: SentChannel | null | undefined;
}

const linesMax = 500;
const refundsMax = 100;

/** Checks every rule that needs no stored data. Problems have `path` as a prefix. @param currency the store's, null if it has none */
export function checkOrder(order: OrderInput, path: Path, problems: Problems, currency: string | null): void {
  const { viewerId, placedAt, lsId } = order;
  const report = reportAt(path, problems);
  checkText(order.id, 255, path, "id", problems);
  checkPast(placedAt, "placedAt", latestMoment(), report);
  checkAmount(order.amount, currency, report);
  checkCurrency(order.currency?.toUpperCase() || null, currency, report);
  if (typeof viewerId === "string") {
    checkText(viewerId, 255, path, "viewerId", problems);
    checkIdentifies(viewerId, report);
  }
  if (order.channel && !lsId)
    report("channel", "INVALID_VALUE", "channel needs an lsId, because it is a channel of that show.");
  if (lsId && !isStorable(lsId)) checkText(lsId, 255, path, "lsId", problems);
  checkLines(order, path, problems, currency);
  checkRefunds(order.refunds ?? [], order.amount, [...path, "refunds"], problems, currency);
}

function reportAt(path: Path, problems: Problems): Report {
  return (field, code, message) => problems.add({ code, message, path: [...path, field] });
}

function checkRefunds(
  refunds: readonly OrderRefundInput[],
  total: number,
  path: Path,
  problems: Problems,
  currency: string | null,
): void {
  if (refunds.length > refundsMax) {
    problems.add({ code: "TOO_LONG", message: `refunds must have at most ${refundsMax} items.`, path });
  }
  const ids = new Set<string>();
  for (const [index, refund] of refunds.slice(0, refundsMax).entries()) {
    const at = [...path, index];
    const report = reportAt(at, problems);
    checkAmount(refund.amount, currency, report);
    if (refund.at) checkPast(refund.at, "at", latestMoment(), report);
    if (refund.id) checkText(refund.id, 255, at, "id", problems);
    if (refund.id && ids.has(refund.id))
      report("id", "INVALID_VALUE", mustBe("id", "unique among the refunds of the order", refund.id));
    if (refund.id) ids.add(refund.id);
    checkLines(refund, at, problems, currency);
  }
  const sum = refunds.reduce((units, { amount }) => units + toUnits(amount), 0);
  if (sum <= toUnits(total)) return;
  const message = `The refunds add up to ${fromUnits(sum)}, more than the amount of ${total}.`;
  problems.add({ code: "INVALID_VALUE", message, path });
}

function checkLines(
  { lines, amount: total }: Pick<OrderInput, "lines" | "amount">,
  path: Path,
  problems: Problems,
  currency: string | null,
): void {
  const all = lines ?? [];
  if (all.length > linesMax) {
    const message = `lines must have at most ${linesMax} items.`;
    problems.add({ code: "TOO_LONG", message, path: [...path, "lines"] });
  }
  for (const [index, { productId, sku, quantity, amount }] of all.slice(0, linesMax).entries()) {
    const at = [...path, "lines", index];
    const report = reportAt(at, problems);
    checkAmount(amount, currency, report);
    checkQuantity(quantity, report);
    if (productId) checkText(productId, 255, at, "productId", problems);
    if (sku) checkText(sku, 255, at, "sku", problems);
    if (!productId && (!sku || sku.trim() === "0"))
      report("productId", "REQUIRED", "A line needs a productId or a sku.");
  }
  checkLineSum(all, total, reportAt(path, problems));
}

/** Whether a text names a product: shops write 0 for a missing id. */
export function isName(text: string | undefined): text is string {
  return text !== undefined && text !== "" && text !== "0";
}

function checkAmount(amount: number, currency: string | null, report: Report): void {
  checkRange(amount, amountMax, "amount", report);
  checkDecimals(amount, currency, report);
  if (currency !== null || decimalsOf(amount) <= decimalsMax) return;
  report("amount", "INVALID_VALUE", mustBe("amount", `an amount with at most ${decimalsMax} decimals`, amount));
}
