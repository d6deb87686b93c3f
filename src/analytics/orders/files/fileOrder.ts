import type { OrderInput } from "../order.rules.js";
import type { OrderStatus } from "./cells/status.js";

/** What only a CSV says of an order. */
interface CsvFacts {
  readonly status: OrderStatus;
  /** Cancelled, or refunded as a whole. */
  readonly isGone: boolean;
  /** All that was ever given back. */
  readonly refunded: number;
  /** The number or the name that customers see; empty where the file has none. */
  readonly name: string;
  readonly isByNumber: boolean;
}

/** An order of a file, as it was read. */
export interface FileOrder {
  readonly order: OrderInput;
  /** On which it begins, from 1. */
  readonly line: number;
  /** Undefined of NDJSON, whose orders are those of recordOrders. */
  readonly csv?: CsvFacts;
}

/** Whether an order of a file was paid: others count for nothing. */
export function isPaid({ csv }: FileOrder): boolean {
  return csv?.status.isPaid ?? true;
}
