import type { Database } from "../../database/client.js";
import { AppError } from "../../errors.js";
import { findLiveStream, hostOf } from "../../shows/liveStream.js";
import { listMoments, type Moment, spanOf } from "../../shows/moments/moments.js";
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
  const { seconds, isExact, sums, viewers, ofProduct: shown } = await readInterval(db, storeId, lsId, wanted);
  const [{ ofProduct, ...all }, watched] = await Promise.all([sums(), viewers()]);
  const figures = { seconds, ...all, ...watched, ofProduct: shown && ofProduct, isExact };
  return { id, kind, startedAt, endedAt, productId, host: hostOf(moment), title, figures };
}
