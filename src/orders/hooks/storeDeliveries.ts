import type { Database, RootDatabase } from "../../database/client.js";
import { callerOf } from "../../database/shares/caller.js";
import { GroupCommit, type Waiting } from "../../lib/groupCommit.js";
import { mustBe } from "../../lib/mustBe.js";
import { currencyOf } from "../../stores/store.currency.js";
import { type OrderReceipt, recordNews } from "../state/order.record.js";
import type { OrderLine, OrderNews } from "../state/order.state.js";
import { productOf, productsOfNames } from "../state/order.input.js";
import type { HookLine, HookNews } from "./delivery.js";
import { PayloadError } from "./payload.js";

interface Delivery {
  /** Of the hook. */
  readonly db: RootDatabase;
  readonly storeId: string;
  readonly news: HookNews;
}

/** Resolves once what a delivery says is stored. @throws {PayloadError} for an order in another currency than the store's */
export type Deliver = (db: RootDatabase, storeId: string, news: HookNews) => Promise<OrderReceipt>;

const groupMax = 200;

/**
 * Stores deliveries of one hook that come together in one transaction, which is most of the cost of a single one: while one is
 * under way, others wait and share the next.
 *
 * @param onChanged called with the show's id where its figures changed
 */
export function createDeliver(onChanged: (storeId: string, lsId: string) => void): Deliver {
  const commit = async (group: readonly Waiting<Delivery, OrderReceipt>[]): Promise<void> => {
    const [first] = group;
    if (first === undefined) return;
    const { db, storeId } = first.item;
    const all = group.map(({ item }) => item.news);
    const { changed, ...receipt } = await recordNews(db, storeId, await withProducts(db, storeId, all));
    for (const lsId of changed) onChanged(storeId, lsId);
    for (const { resolve } of group) resolve(receipt);
  };
  const ofHooks = new GroupCommit<Delivery, OrderReceipt>({ sizeOf: () => groupMax, commit });
  return async (db, storeId, news) => {
    if (news.kind === "state") requireCurrency(await currencyOf(db, storeId), news.currency);
    const hook = callerOf(db)?.id ?? storeId; // of several hooks of a store, one may be removed meanwhile
    return ofHooks.add(storeId, hook, { db, storeId, news });
  };
}

function requireCurrency(currency: string | null, given: string | undefined): void {
  if (given === undefined || currency === null || given.toUpperCase() === currency) return;
  throw new PayloadError(mustBe("currency", `${currency}, the currency of the store`, given));
}

/** What is reported, with the products of its lines as the catalog has them. */
export async function withProducts(db: Database, storeId: string, all: readonly HookNews[]): Promise<OrderNews[]> {
  const lines = all.flatMap((news) =>
    news.kind === "state"
      ? [...news.lines, ...news.refunds.flatMap((refund) => refund.lines)]
      : news.kind === "refund"
        ? news.refund.lines
        : [],
  );
  const products = await productsOfNames(
    db,
    storeId,
    lines.flatMap(({ names }) => names),
  );
  const toLine = ({ names, quantity, amount }: HookLine): OrderLine => ({
    productId: productOf(names, products),
    quantity,
    amount,
  });
  return all.map((news) => withLines(news, toLine));
}

function withLines(news: HookNews, toLine: (line: HookLine) => OrderLine): OrderNews {
  if (news.kind === "deletion") return news;
  const refundOf = <Refund extends { readonly lines: readonly HookLine[] }>(refund: Refund) => ({
    ...refund,
    lines: refund.lines.map(toLine),
  });
  if (news.kind === "refund") return { ...news, refund: refundOf(news.refund) };
  const { currency: _, ...state } = news;
  return { ...state, lines: state.lines.map(toLine), refunds: state.refunds.map(refundOf) };
}
