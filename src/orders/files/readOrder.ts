import type { RootDatabase } from "../../database/client.js";
import { AppError } from "../../errors.js";
import { withProducts } from "../hooks/storeDeliveries.js";
import type { HookState } from "../hooks/delivery.js";
import { statesOf } from "../state/order.input.js";
import type { OrderInput } from "../state/order.rules.js";
import type { OrderNews, OrderState } from "../state/order.state.js";
import type { OrderStatus } from "./cells/status.js";

/** What only a CSV says about an order. */
interface CsvFacts {
  readonly status: OrderStatus;
  /** Cancelled, or refunded as a whole. */
  readonly isGone: boolean;
  /** Everything ever refunded. */
  readonly refunded: number;
  readonly isByNumber: boolean;
}

/** What the REST API of a shop's system says about an order, as hooks do. */
interface ShopFacts {
  readonly state: HookState;
  readonly status: string;
}

/** An order as read from a file. */
export interface FileOrder {
  readonly order: OrderInput;
  /** The line on which it begins, from 1. */
  readonly line: number;
  /** The number or the name that customers see; empty if the file has none. */
  readonly name: string;
  /** Why members that do not affect money were not used. */
  readonly faults: readonly string[];
  /** Undefined for NDJSON. */
  readonly csv?: CsvFacts;
  /** Undefined for a CSV, and for orders as recordOrders takes them. */
  readonly shop?: ShopFacts;
}

/** Whether an order of a file was paid and is not a part of another one. Others count for nothing. */
export function isPaid({ csv, shop }: FileOrder): boolean {
  if (shop !== undefined) return shop.state.isPaid && shop.state.isPart !== true;
  return csv?.status.isPaid ?? true;
}

/** Why an order does not count. */
export function statusOf({ csv, shop }: FileOrder): string {
  return shop?.state.isPart === true ? "part of another order" : (shop?.status ?? csv?.status.name ?? "");
}

/**
 * What orders of a file report, without orders that report nothing.
 *
 * @throws {AppError} VALIDATION_FAILED naming the line, for what recordOrders refuses
 */
export async function newsOf(
  db: RootDatabase,
  storeId: string,
  batch: readonly FileOrder[],
): Promise<ReadonlyMap<FileOrder, OrderNews>> {
  const ofShop = batch.filter(({ shop }) => shop !== undefined);
  const states = await withProducts(
    db,
    storeId,
    ofShop.flatMap(({ shop }) => shop?.state ?? []),
  );
  const others = batch.filter((item) => item.shop === undefined && (isPaid(item) || item.csv?.isGone === true));
  const sent = await atLines(others, () =>
    statesOf(
      db,
      storeId,
      others.map(({ order }) => order),
    ),
  );
  return new Map([
    ...ofShop.flatMap((item, index) => pair(item, states[index])),
    ...others.flatMap((item, index) => pair(item, newsOfOrder(item, sent[index]))),
  ]);
}

function pair(item: FileOrder, news: OrderNews | undefined): [FileOrder, OrderNews][] {
  return news === undefined ? [] : [[item, news]];
}

/** A CSV says less about an order than a state does. */
function newsOfOrder({ csv }: FileOrder, state: OrderState | undefined): OrderNews | undefined {
  if (state === undefined || csv === undefined) return state;
  const { id, placedAt, amount, lines, viewerId } = state;
  const { isGone, refunded, isByNumber } = csv;
  return { kind: "file", id, placedAt, amount, lines, viewerId, isGone, refunded, isByNumber };
}

/** Names the line of the file instead of the position in the batch. */
async function atLines<Result>(batch: readonly FileOrder[], work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const problems = error.problems.map(({ path: [list, index, ...rest], ...problem }) => {
      const line = list === "orders" && typeof index === "number" ? batch[index]?.line : undefined;
      return line === undefined ? { ...problem, path: rest } : { ...problem, path: rest, line };
    });
    const [first] = problems;
    const where = first?.line === undefined ? "" : `Line ${first.line}: `;
    throw new AppError(error.code, `${where}${first?.message ?? error.message}`, { problems });
  }
}
