import type { Database } from "../../database/client.js";
import { joinLookupsById } from "../../database/joinLookups.js";
import { type AppError, errorAt } from "../../errors.js";
import type { LiveStream } from "../../generated/prisma/client.js";
import { canBeKey } from "../../lib/text.js";

/** A show goes from LIVE to ENDED to ARCHIVED, or straight from LIVE to ARCHIVED, and never back. */
export const liveStreamStatuses = ["LIVE", "ENDED", "ARCHIVED"] as const;
export type LiveStreamStatus = (typeof liveStreamStatuses)[number];

/** The moments that a show's status tells: a live one has no end yet, and its duration grows. */
export interface LiveStreamTimes {
  readonly endedAt: Date | null;
  readonly durationSeconds: number;
}

type TimedShow = Pick<LiveStream, "startedAt" | "durationSeconds"> & { readonly status: string };

/** What GraphQL's Int can hold: a show may have been live since a day in the Middle Ages. */
const intMax = 2 ** 31 - 1;

/** Whole seconds, and the end: start plus duration for ended and archived shows, null while the show is live. */
export function timesOf({ status, startedAt, durationSeconds }: TimedShow, now = Date.now()): LiveStreamTimes {
  if (status === "LIVE") {
    const seconds = Math.floor((now - startedAt.getTime()) / 1_000);
    return { endedAt: null, durationSeconds: Math.min(Math.max(0, seconds), intMax) };
  }
  const seconds = durationSeconds ?? 0;
  return { endedAt: new Date(startedAt.getTime() + seconds * 1_000), durationSeconds: seconds };
}

/** The host, where the show has one. */
export function hostOf({ hostName, hostEmail }: Pick<LiveStream, "hostName" | "hostEmail">) {
  return hostName === null || hostEmail === null ? null : { name: hostName, email: hostEmail };
}

/** @throws {AppError} LIVE_STREAM_NOT_FOUND, for another store's show too */
export async function findLiveStream(db: Database, storeId: string, id: string): Promise<LiveStream> {
  const show = canBeKey(id) ? await lookUpLiveStream(db, storeId, id) : undefined;
  if (show === undefined) throw liveStreamNotFound();
  return show;
}

/** Not findUnique: Prisma would make one query of those of several stores. */
const lookUpLiveStream = joinLookupsById((db, storeId, ids) =>
  db.liveStream.findMany({ where: { storeId, id: { in: ids } } }),
);

export function liveStreamNotFound(): AppError {
  return errorAt("LIVE_STREAM_NOT_FOUND", "The store has no live stream with this id.", ["lsId"]);
}
