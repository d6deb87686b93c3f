import type { Database, RootDatabase } from "../database/client.js";
import { batchLookupsById } from "../database/batchLookups.js";
import { AppError, errorAt } from "../errors.js";
import type { LiveStream } from "../generated/prisma/client.js";
import { canBeKey } from "../lib/text.js";
import { keptByDatabase } from "../database/shares/forStore.js";
import { CachedFor } from "../lib/cached.js";

/** In the order of transitions. They may skip a step, and go back only from ENDED to LIVE. */
export const liveStreamStatuses = ["SCHEDULED", "LIVE", "ENDED", "ARCHIVED"] as const;
export type LiveStreamStatus = (typeof liveStreamStatuses)[number];

export interface LiveStreamTimes {
  readonly endedAt: Date | null;
  readonly durationSeconds: number;
}

type TimedShow = Pick<LiveStream, "startedAt" | "durationSeconds"> & { readonly status: string };

/** The maximum of GraphQL's Int. */
const intMax = 2 ** 31 - 1;

/** A scheduled show has no duration yet, a live one's grows, and others end at start plus duration. In whole seconds. */
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

/** The key of a show among all stores. NUL separates its parts, because ids cannot contain it. */
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

interface ShowEnd {
  /** Null while the show has not ended. */
  readonly endedAt: Date | null;
}

const endsMax = 10_000;
/** How much later other processes learn that a show has ended. */
const endTrustMs = 1_000;
const endsOf = keptByDatabase(() => new CachedFor<ShowEnd>(endTrustMs, endsMax));

/** When a show ended, read within the last second. @throws {AppError} LIVE_STREAM_NOT_FOUND */
export function endOf(db: RootDatabase, storeId: string, lsId: string): Promise<ShowEnd> {
  const find = async () => timesOf(await findLiveStream(db, storeId, lsId));
  return endsOf(db).get(showKey(storeId, lsId), find, { waits: false });
}

/** Removes a show's end from the cache. */
export function forgetEnd(db: RootDatabase, storeId: string, lsId: string): void {
  endsOf(db).forget(showKey(storeId, lsId));
}

export function liveStreamNotFound(): AppError {
  return errorAt("LIVE_STREAM_NOT_FOUND", "The store has no live stream with this id.", ["lsId"]);
}

/** Events arrived before the start of a scheduled show. Nothing was stored. */
export class ShowNotStartedError extends AppError {
  constructor(readonly startsAt: Date) {
    const message = "The show is scheduled and takes no events yet: save it as LIVE when it starts.";
    super("VALIDATION_FAILED", message, { problems: [{ code: "VALIDATION_FAILED", message, path: ["lsId"] }] });
  }
}

/**
 * Makes a scheduled show LIVE once its start has passed. Does nothing to other shows.
 *
 * @throws {ShowNotStartedError} before its start
 * @throws {AppError} LIVE_STREAM_NOT_FOUND
 */
export async function startWhenDue(db: RootDatabase, storeId: string, id: string): Promise<void> {
  const now = new Date();
  const started = await db.$executeRaw`
    UPDATE "LiveStream" SET status = 'LIVE'
    WHERE "storeId" = ${storeId} AND id = ${id} AND status = 'SCHEDULED' AND "startedAt" <= ${now}::timestamptz`;
  if (started > 0) return;
  const { status, startedAt } = await findLiveStream(db, storeId, id);
  if (status === "SCHEDULED" && startedAt > now) throw new ShowNotStartedError(startedAt);
}
