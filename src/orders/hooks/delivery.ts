import type { OrderNews, OrderRefund, OrderState } from "../state/order.state.js";

/** A line as a shop system names its product. */
export interface HookLine {
  /** Its sku and the system's ids, as far as there are any; its name where there are none. */
  readonly names: readonly string[];
  readonly quantity: number;
  /** For all of them together. */
  readonly amount: number;
}

export type HookRefund = Omit<OrderRefund, "lines"> & { readonly lines: readonly HookLine[] };

export type HookState = Omit<OrderState, "lines" | "refunds"> & {
  readonly currency: string | undefined;
  readonly lines: readonly HookLine[];
  readonly refunds: readonly HookRefund[];
};

/** What a delivery says, before its products are looked up in the catalog. */
export type HookNews =
  | HookState
  | { readonly kind: "refund"; readonly id: string; readonly refund: HookRefund }
  | Extract<OrderNews, { readonly kind: "deletion" }>;

interface Delivered {
  readonly body: Buffer;
  readonly receivedAt: Date;
  /** Of the store. */
  readonly currency: string | null;
  readonly note: Note;
}

/** Notes what was not used, and what to do about it. */
export type Note = (fault: string) => void;

/** Undefined where the delivery says nothing that counts; "unknown" for a topic that is not known. */
export type ReadDelivery = (topic: string, delivered: Delivered) => HookNews | "unknown" | undefined;

const linesMax = 500;

/** The lines of an order or a refund, as far as they are kept: the rest of its money is of no product. */
export function keptLines<Line>(lines: readonly Line[], note: Note): readonly Line[] {
  if (lines.length > linesMax)
    note(`Of more than ${linesMax} lines, the first ${linesMax} count: the rest is of no product.`);
  return lines.slice(0, linesMax);
}
