import type { Database } from "../../database/client.js";
import { LockedError } from "../../database/shares/lockWait.js";
import { textArrayLiteral } from "../../database/rawParameters.js";

/**
 * How orders belong together. A marketplace divides an order into orders of its vendors: these count with the whole order, and not by
 * themselves. Other children, such as the rest of a deposit, count. What was once reported stays.
 */
export interface Family {
  readonly parentId?: string;
  /** This is a vendor's part. */
  readonly isPart?: boolean;
  /** All children are vendors' parts. */
  readonly hasParts?: boolean;
  /** The known children. */
  readonly children?: readonly string[];
}

interface Member {
  readonly isPaid: boolean;
  readonly money: Family;
}

type News = Family & { readonly id: string };

/** Of one order: more than any marketplace has. */
const childrenMax = 500;

/** The ids of orders that change with others: parents of reported children, and children of orders with parts. */
export async function relativesOf(db: Database, storeId: string, news: readonly News[]): Promise<readonly string[]> {
  const parents = news.flatMap(({ parentId }) => parentId ?? []);
  const divided = news.flatMap(({ id, hasParts }) => (hasParts === true ? [id] : []));
  if (divided.length === 0) return parents;
  const rows = await db.$queryRaw<{ state: string }[]>`
    SELECT state FROM "ShopOrder" WHERE "storeId" = ${storeId} AND id = ANY(${textArrayLiteral(divided)}::text[]) AND state <> ''`;
  return [...parents, ...rows.flatMap(({ state }) => (JSON.parse(state) as Family).children ?? [])];
}

/**
 * Notes what news report about families, whichever member comes first. A part counts like an order that was never paid.
 *
 * @param unknown creates an order about which nothing else is known
 * @throws {LockedError} if a child was reported since relativesOf
 */
export function joinFamilies<Order extends Member>(
  orders: Map<string, Order>,
  news: readonly News[],
  unknown: (id: string) => Order,
): void {
  for (const { id, parentId, isPart, hasParts } of news) {
    const note = (of: string, more: Family): void => {
      const order = orders.get(of) ?? unknown(of);
      orders.set(of, { ...order, money: { ...order.money, ...more } });
    };
    note(id, { ...(parentId !== undefined && { parentId }), ...(isPart && { isPart }), ...(hasParts && { hasParts }) });
    if (parentId === undefined) continue;
    const children = orders.get(parentId)?.money.children ?? [];
    note(parentId, { children: [...new Set([...children, id])].slice(0, childrenMax) });
  }
  const divided = new Set(news.flatMap(({ id, hasParts }) => (hasParts === true ? [id] : [])));
  markParts(orders, divided);
}

function markParts<Order extends Member>(orders: Map<string, Order>, divided: ReadonlySet<string>): void {
  for (const [id, order] of orders) {
    const { parentId = "", isPart, children = [] } = order.money;
    if (divided.has(id) && children.some((child) => !orders.has(child))) throw new LockedError();
    if (isPart === true || orders.get(parentId)?.money.hasParts === true)
      orders.set(id, { ...order, isPaid: false, money: { ...order.money, isPart: true } });
  }
}
