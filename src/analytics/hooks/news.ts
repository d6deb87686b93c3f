import type { OrderLine, OrderNews, OrderRefund, OrderState } from "../orders/order.state.js";

/** A line as a shop system names its product: by sku, if it has one, and by an id of its own. */
export interface HookLine extends OrderLine {
  readonly sku: string | undefined;
}

interface HookRefund extends OrderRefund {
  readonly lines: readonly HookLine[];
}

/** What a delivery says, before its products are looked up in the catalog. */
export type HookNews =
  | (Omit<OrderState, "lines" | "refunds"> & {
      readonly currency: string | undefined;
      readonly lines: readonly HookLine[];
      readonly refunds: readonly HookRefund[];
    })
  | { readonly kind: "refund"; readonly id: string; readonly refund: HookRefund }
  | Extract<OrderNews, { readonly kind: "deletion" }>;

/** Undefined where the delivery says nothing that counts; "unknown" for a topic that is not known. */
export type ReadDelivery = (topic: string, body: Buffer, receivedAt: Date) => HookNews | "unknown" | undefined;

/** The name under which a theme gives the id of the viewer along with an order. */
export const viewerAttribute = "vitrine_viewer";
export const linesMax = 500;
