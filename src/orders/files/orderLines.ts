import { AppError, Problems } from "../../errors.js";
import { parseDateTime } from "../../lib/dateTime.js";
import { clip } from "../../lib/text.js";
import { channels } from "../../events/events.input.js";
import type { OrderInput, OrderLineInput } from "../state/order.rules.js";

const texts = ["id", "currency", "viewerId", "lsId", "channel"] as const;
const members = new Set<string>([...texts, "placedAt", "amount", "lines", "refunds"]);
const lineMembers = new Set(["productId", "sku", "quantity", "amount"]);
const refundMembers = new Set(["id", "at", "amount", "lines"]);

/** An order as recordOrders takes it. @throws {AppError} VALIDATION_FAILED naming the line */
export function readObject(value: unknown, line: number): OrderInput {
  const order = objectOf(value, members, "The line", line);
  for (const name of texts) {
    const text = order[name];
    if (text !== undefined && text !== null && typeof text !== "string") throw faultAt(line, `${name} must be a text.`);
  }
  const channel = order["channel"];
  if (channel && !channels.some((name) => name === channel)) {
    throw faultAt(line, "channel must be LIVE, REPLAY, REFERRAL or AUTO.");
  }
  const placedAt = momentOf(order["placedAt"], "placedAt", line);
  const refunds = listOf(order["refunds"], "refunds", line).map((item) => {
    const refund = objectOf(item, refundMembers, "A refund", line);
    const at = refund["at"];
    const amount = numberOf(refund["amount"], "amount", line);
    const { id } = refund;
    return {
      amount,
      id: typeof id === "string" ? id : null,
      at: at === undefined || at === null ? null : momentOf(at, "at", line),
      lines: linesOf(refund["lines"], line),
    };
  });
  if (typeof order["id"] !== "string") throw faultAt(line, "id is missing.");
  const amount = numberOf(order["amount"], "amount", line);
  return {
    ...(order as Omit<OrderInput, "id">), // its texts are checked above
    id: order["id"],
    placedAt,
    amount,
    refunds,
    lines: linesOf(order["lines"], line),
  };
}

function linesOf(value: unknown, line: number): OrderLineInput[] {
  return listOf(value, "lines", line).map((item) => {
    const { productId, sku, ...others } = objectOf(item, lineMembers, "An item of lines", line);
    return {
      productId: typeof productId === "string" ? productId : null,
      sku: typeof sku === "string" ? sku : null,
      quantity: numberOf(others["quantity"], "quantity", line),
      amount: numberOf(others["amount"], "amount", line),
    };
  });
}

function listOf(value: unknown, name: string, line: number): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw faultAt(line, `${name} must be a list.`);
  return value;
}

function objectOf(value: unknown, known: ReadonlySet<string>, name: string, line: number): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw faultAt(line, `${name} is not a JSON object.`);
  const unknown = Object.keys(value).find((key) => !known.has(key));
  if (unknown !== undefined) throw faultAt(line, `Unknown field "${clip(unknown)}".`);
  return value as Record<string, unknown>;
}

function numberOf(value: unknown, name: string, line: number): number {
  if (typeof value !== "number") throw faultAt(line, `${name} must be a number.`);
  return value;
}

function momentOf(value: unknown, name: string, line: number): Date {
  const moment = typeof value === "string" ? parseDateTime(value) : undefined;
  if (moment === undefined) throw faultAt(line, `${name} must be an ISO 8601 timestamp with a time zone.`);
  return moment;
}

export function faultAt(line: number, message: string): AppError {
  const problems = new Problems();
  problems.add({ code: "INVALID_VALUE", message: `Line ${line}: ${message}`, path: [], line });
  return new AppError("VALIDATION_FAILED", `Line ${line}: ${message}`, { problems: problems.list });
}
