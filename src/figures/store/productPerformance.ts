import { decimalsOfStore } from "../../stores/store.currency.js";
import type { Database } from "../../database/client.js";
import { batchLookups } from "../../database/batchLookups.js";
import { Prisma } from "../../generated/prisma/client.js";
import { money } from "../show/kpis.js";
import { figureColumns, productFigure, productFigures } from "./productPerformance.sql.js";
import type { OpenRange } from "../../lib/dateRange.js";
import type { StoreRange } from "./storeRange.js";

/** Figures over all shows of a range. Orders, quantity and sales are gross; refunds are separate. */
export interface ProductPerformance {
  readonly productId: string;
  readonly carts: number;
  readonly orders: number;
  readonly quantity: number;
  readonly sales: number;
  readonly refunds: number;
  /** Shows in which any of these happened. */
  readonly shows: number;
}

/** Exact to the hundredth decimal, so that a cursor can hold it. */
const figures = {
  SALES: Prisma.sql`trim_scale(round(sales, 100))`,
  ORDERS: Prisma.sql`orders`,
  QUANTITY: Prisma.sql`quantity`,
  CARTS: Prisma.sql`carts`,
  SHOWS: Prisma.sql`shows`,
} as const;

const figureNames = { SALES: "sales", ORDERS: "orders", QUANTITY: "quantity", CARTS: "carts", SHOWS: "shows" } as const;

export type ProductPerformanceOrder = keyof typeof figures;

/** A place in the list: the figure, a decimal, and the id. */
export interface PerformancePosition {
  readonly figure: string;
  readonly productId: string;
}

export interface ListedPerformance extends ProductPerformance {
  readonly orderBy: ProductPerformanceOrder;
  readonly figure: string;
}

interface PerformancePage {
  readonly first: number;
  readonly after: PerformancePosition | undefined;
  readonly orderBy: ProductPerformanceOrder;
}

type FigureRow = Omit<ProductPerformance, "sales" | "refunds"> & { readonly sales: string; readonly refunds: string };

/** Products with figures in a range, highest first, then by id. */
export async function listProductPerformance(
  db: Database,
  storeId: string,
  range: StoreRange,
  { first, after, orderBy }: PerformancePage,
): Promise<{ nodes: ListedPerformance[]; hasNextPage: boolean }> {
  const figure = figures[orderBy];
  const all = productFigure(storeId, range, figureNames[orderBy]);
  const isOfPage = Prisma.sql`AND "productId" = ANY (ARRAY(SELECT "productId" FROM page))`;
  const isAfter =
    after === undefined
      ? Prisma.empty
      : Prisma.sql`WHERE ${figure} <= ${after.figure}::numeric
          AND (${figure} < ${after.figure}::numeric OR "productId" > ${after.productId})`;
  const rows = await db.$queryRaw<(FigureRow & { readonly figure: string })[]>`
    WITH page AS MATERIALIZED (
      SELECT "productId" FROM (${all}) AS figures ${isAfter} ORDER BY ${figure} DESC, "productId" LIMIT ${first + 1}::int)
    SELECT ${figureColumns}, ${figure}::text AS figure FROM (${productFigures(storeId, range, isOfPage)}) AS figures
    ORDER BY ${figure} DESC, "productId"`;
  const decimals = await decimalsOfStore(db, storeId);
  const nodes = rows.slice(0, first).map((row) => ({ ...performanceOf(row, decimals), orderBy, figure: row.figure }));
  return { nodes, hasNextPage: rows.length > first };
}

export async function countProductPerformance(
  db: Database,
  storeId: string,
  range: StoreRange,
  max: number,
): Promise<number> {
  const [row] = await db.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS count FROM (${productFigure(storeId, range, "shows")} LIMIT ${max}::int) AS products`;
  return row.count;
}

/** Lookups with the same range, such as those of a page, share a statement. */
export function lookUpPerformance(
  db: Database,
  storeId: string,
  productId: string,
  { from, until }: OpenRange,
): Promise<ProductPerformance> {
  return lookUp(db, storeId, JSON.stringify([from?.getTime() ?? null, until?.getTime() ?? null, productId]));
}

type LookUpKey = readonly [from: number | null, until: number | null, productId: string];

const lookUp = batchLookups<ProductPerformance>(async (db, storeId, keys) => {
  const byRange = new Map<string, { range: OpenRange; ids: string[] }>();
  for (const key of keys) {
    const [from, until, id] = JSON.parse(key) as LookUpKey;
    const name = `${from} ${until}`;
    const known = byRange.get(name);
    if (known !== undefined) known.ids.push(id);
    else byRange.set(name, { range: { from: dateOf(from), until: dateOf(until) }, ids: [id] });
  }
  const found = new Map<string, ProductPerformance>();
  const decimals = await decimalsOfStore(db, storeId);
  for (const [name, { range, ids }] of byRange) {
    const rows = await db.$queryRaw<FigureRow[]>`
      SELECT ${figureColumns} FROM (${productFigures(storeId, range, Prisma.sql`AND "productId" = ANY(${ids})`)}) AS figures`;
    for (const row of rows) found.set(`${name} ${row.productId}`, performanceOf(row, decimals));
  }
  return (key) => {
    const [from, until, productId] = JSON.parse(key) as LookUpKey;
    return found.get(`${from} ${until} ${productId}`) ?? { productId, ...nothing };
  };
});

const nothing = { carts: 0, orders: 0, quantity: 0, sales: 0, refunds: 0, shows: 0 };

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

function performanceOf({ sales, refunds, ...counts }: FigureRow, decimals: number): ProductPerformance {
  return { ...counts, sales: money(sales, decimals), refunds: money(refunds, decimals) };
}
