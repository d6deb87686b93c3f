import { clip } from "../../../lib/text.js";

/** Statuses of paid orders in Shopify and WooCommerce. */
const paid: ReadonlySet<string> = new Set(["paid", "partially_refunded", "refunded", "processing", "completed"]);
/** Statuses of orders of which nothing is left, or that were never paid. */
const gone: ReadonlySet<string> = new Set(["cancelled", "canceled", "voided", "failed", "trash", "trashed"]);

export interface OrderStatus {
  /** As compared: `on-hold` for `wc-On-hold`. */
  readonly name: string;
  readonly isPaid: boolean;
  /** Nothing of the order is left. */
  readonly isGone: boolean;
  /** A part of it was refunded. */
  readonly isPart: boolean;
}

/** A status of a file. Only statuses that are known to be paid create an order. */
export function statusOf(text: string): OrderStatus {
  const name = clip(text.toLowerCase().replace(/^wc-/u, ""));
  const key = name.replaceAll(/[\s-]/gu, "_");
  return {
    name: name || "(none)",
    isPaid: paid.has(key),
    isGone: gone.has(key) || key === "refunded",
    isPart: key === "partially_refunded",
  };
}

const namesMax = 50;

/** Counts unpaid orders by status. Bounded, so that a file with very many statuses does not fill memory. */
export class StatusCounts {
  readonly #counts = new Map<string, number>();
  total = 0;

  add(name: string): void {
    this.total += 1;
    const known = this.#counts.has(name) || this.#counts.size < namesMax ? name : "others";
    this.#counts.set(known, (this.#counts.get(known) ?? 0) + 1);
  }

  get list(): readonly { readonly status: string; readonly orders: number }[] {
    return [...this.#counts].map(([status, orders]) => ({ status, orders }));
  }
}
