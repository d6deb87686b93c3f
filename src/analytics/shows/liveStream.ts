import type { Database } from "../../database/client.js";
import { batchLookupsById } from "../../database/batchLookups.js";
import { type AppError, errorAt } from "../../errors.js";
import type { LiveStream } from "../../generated/prisma/client.js";
import { canBeKey } from "../../lib/text.js";

/** In the order of the transitions, which may skip a step, and go back from ENDED to LIVE alone. */
export const liveStreamStatuses = ["SCHEDULED", "LIVE", "ENDED", "ARCHIVED"] as const;
export type LiveStreamStatus = (typeof liveStreamStatuses)[number];

export interface LiveStreamTimes {
  readonly endedAt: Date | null;
  readonly durationSeconds: number;
}

type TimedShow = Pick<LiveStream, "startedAt" | "durationSeconds"> & { readonly status: string };

/** The maximum of GraphQL's Int. */
const intMax = 2 ** 31 - 1;

/** A scheduled show has no duration yet, and a live one's grows; others end at start plus duration. Whole seconds. */
export function timesOf({ status, startedAt, durationSeconds }: TimedShow, now = Date.now()): LiveStreamTimes {
  if (status === "SCHEDULED") return { endedAt: null, durationSeconds: 0 };
  if (status === "LIVE") {
    const seconds = Math.floor((now - startedAt.getTime()) / 1_000);
    return { endedAt: null, durationSeconds: Math.min(Math.max(0, seconds), intMax) };
  }
  const seconds = durationSeconds ?? 0;
  return { endedAt: new Date(startedAt.getTime() + seconds * 1_000), durationSeconds: seconds };
}

export function hostOf({ hostName, hostEmail }: Pick<LiveStream, "hostName" | "hostEmail">) {
  return hostName === null || hostEmail === null ? null : { name: hostName, email: hostEmail };
}

/** Of a show among those of all stores. NUL separates: ids cannot contain it. */
export function showKey(storeId: string, lsId: string): string {
  return `${storeId}\0${lsId}`;
}

/** @throws {AppError} LIVE_STREAM_NOT_FOUND, also for another store's show */
export async function findLiveStream(db: Database, storeId: string, id: string): Promise<LiveStream> {
  const show = canBeKey(id) ? await lookUpLiveStream(db, storeId, id) : undefined;
  if (show === undefined) throw liveStreamNotFound();
  return show;
}

/** Not findUnique: Prisma would send one query for each store. */
const lookUpLiveStream = batchLookupsById((db, storeId, ids) =>
  db.liveStream.findMany({ where: { storeId, id: { in: ids } } }),
);

export function liveStreamNotFound(): AppError {
  return errorAt("LIVE_STREAM_NOT_FOUND", "The store has no live stream with this id.", ["lsId"]);
}
