import type { Database } from "../../database/client.js";
import { LockedError } from "../../database/shares/lockWait.js";
import { textArrayLiteral } from "../../database/sql/arrayLiteral.js";

/**
 * How orders belong together. A marketplace divides an order into parts of its vendors, which are orders of their own there: they count
 * with the order, and not by themselves. Other children, such as the rest of a deposit, count. What was once said stays.
 */
export interface Family {
  readonly parentId?: string;
  /** A vendor's part. */
  readonly isPart?: boolean;
  /** All children are vendors' parts. */
  readonly hasParts?: boolean;
  /** Those that are known. */
  readonly children?: readonly string[];
}

interface Member {
  readonly isPaid: boolean;
  readonly money: Family;
}

type News = Family & { readonly id: string };

/** Of one order; more than any marketplace has. */
const childrenMax = 500;

/** The ids of orders that change with others: parents of which children are reported, and children of those that have parts. */
export async function relativesOf(db: Database, storeId: string, news: readonly News[]): Promise<readonly string[]> {
  const parents = news.flatMap(({ parentId }) => parentId ?? []);
  const divided = news.flatMap(({ id, hasParts }) => (hasParts === true ? [id] : []));
  if (divided.length === 0) return parents;
  const rows = await db.$queryRaw<{ state: string }[]>`
    SELECT state FROM "ShopOrder" WHERE "storeId" = ${storeId} AND id = ANY(${textArrayLiteral(divided)}::text[]) AND state <> ''`;
  return [...parents, ...rows.flatMap(({ state }) => (JSON.parse(state) as Family).children ?? [])];
}

/**
 * Notes what news say of families, whichever of a family comes first. A part counts as an order that was never paid.
 *
 * @param unknown makes an order of which nothing else is known
 * @throws {LockedError} where a child was reported since relativesOf
 */
export function joinFamilies<Order extends Member>(
  orders: Map<string, Order>,
  news: readonly News[],
  unknown: (id: string) => Order,
): void {
  const note = (id: string, more: Family): void => {
    const order = orders.get(id) ?? unknown(id);
    orders.set(id, { ...order, money: { ...order.money, ...more } });
  };
  for (const { id, parentId, isPart, hasParts } of news) {
    if (parentId !== undefined) {
      const children = orders.get(parentId)?.money.children ?? [];
      note(parentId, { children: [...new Set([...children, id])].slice(0, childrenMax) });
      note(id, { parentId });
    }
    if (isPart === true) note(id, { isPart });
    if (hasParts !== true) continue;
    note(id, { hasParts });
    if (orders.get(id)?.money.children?.some((child) => !orders.has(child)) === true) throw new LockedError();
  }
  for (const [id, { isPaid, money }] of orders) {
    const isPart = money.isPart === true || orders.get(money.parentId ?? "")?.money.hasParts === true;
    if (isPart && (isPaid || money.isPart !== true)) {
      note(id, { isPart });
      orders.set(id, { ...(orders.get(id) ?? unknown(id)), isPaid: false });
    }
  }
}
