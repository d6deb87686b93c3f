import type { Database } from "../../database/client.js";
import { AppError } from "../../errors.js";
import { findLiveStream, hostOf } from "../../shows/liveStream.js";
import { listMoments, type Moment } from "../../shows/moments/moments.js";
import { readInterval } from "./intervals.js";

/** The moments of a show with all of their figures, as NDJSON has them; none if the show is gone. */
export async function readMomentFigures(db: Database, storeId: string, lsId: string) {
  try {
    const moments = await listMoments(db, await findLiveStream(db, storeId, lsId));
    return await Promise.all(moments.map((moment) => withFigures(db, storeId, lsId, moment)));
  } catch (error) {
    if (error instanceof AppError && error.code === "LIVE_STREAM_NOT_FOUND") return [];
    throw error;
  }
}

export type MomentFigures = Awaited<ReturnType<typeof withFigures>>;

async function withFigures(db: Database, storeId: string, lsId: string, moment: Moment) {
  const { id, kind, startedAt, endedAt, productId, title } = moment;
  const wanted = { ...spanOf(moment), productId, isOfMinutes: false };
  const { seconds, isExact, sums, viewers, ofProduct } = await readInterval(db, storeId, lsId, wanted);
  const [all, watched, product] = await Promise.all([sums(), viewers?.(), ofProduct?.sums()]);
  const figures = {
    seconds,
    sales: all.sales,
    netSales: all.netSales,
    orders: all.orders,
    quantity: all.quantity,
    addToCart: all.carts,
    viewersAtStart: watched?.atStart ?? null,
    peakViewers: watched?.peak ?? null,
    averageViewers: watched?.average ?? null,
    newViewers: watched?.newOnes ?? null,
    ofProduct: product === undefined ? null : withAddToCart(product),
    isExact,
  };
  return { id, kind, startedAt, endedAt, productId, host: hostOf(moment), title, figures };
}

type ProductSums = Awaited<ReturnType<Awaited<ReturnType<typeof readInterval>>["sums"]>>["ofProduct"];

function withAddToCart({ sales, orders, quantity, carts }: ProductSums) {
  return { sales, orders, quantity, addToCart: carts };
}

/** A moment that has not ended lasts until now, as one that has not begun has not lasted yet. */
export function spanOf(
  { startedAt, endedAt }: Pick<Moment, "startedAt" | "endedAt">,
  now = Date.now(),
): { from: Date; until: Date } {
  const elapsed = Math.max(Math.ceil(now / 1_000) * 1_000, startedAt.getTime());
  return { from: startedAt, until: new Date(Math.min(endedAt?.getTime() ?? Infinity, elapsed)) };
}
