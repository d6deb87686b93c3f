import { batchLookups } from "../../database/batchLookups.js";
import type { Database } from "../../database/client.js";
import type { LiveStream, ShowMoment } from "../../generated/prisma/client.js";
import { timesOf } from "../liveStream.js";

/** What a moment is, in the order of the schema. */
export const momentKinds = ["PIN", "HOST", "SEGMENT", "MARKER"] as const;
export type MomentKind = (typeof momentKinds)[number];

/** Something that happened in a show from one second until another. Its end is null while its show is live, and nothing else ends it. */
export interface Moment extends Omit<ShowMoment, "storeId" | "show" | "kind"> {
  readonly show: LiveStream;
  readonly kind: MomentKind;
}

/**
 * The moments of a show in the order of their start, then of their ids. They end where they say so, but at the latest where the next of
 * their kind starts. One that does not say lasts to the end of the show, unless it started after that.
 */
export async function listMoments(db: Database, show: LiveStream): Promise<readonly Moment[]> {
  const rows = await lookUpMoments(db, show.storeId, String(show.number));
  const showEnd = timesOf(show).endedAt;
  const nextStarts = new Map<string, Date>();
  const moments = rows.toReversed().map(({ kind, startedAt, endedAt, ...others }): Moment => {
    const next = nextStarts.get(kind);
    nextStarts.set(kind, startedAt);
    const givenEnd = endedAt ?? (showEnd !== null && startedAt < showEnd ? wholeSeconds(showEnd) : null);
    const end = next !== undefined && (givenEnd === null || next < givenEnd) ? next : givenEnd;
    const lastEnd = end ?? (showEnd === null ? null : startedAt);
    return { ...others, show, kind: kind as MomentKind, startedAt, endedAt: lastEnd };
  });
  return moments.toReversed();
}

const lookUpMoments = batchLookups(async (db, storeId, shows) => {
  const rows = await db.showMoment.findMany({
    where: { storeId, show: { in: shows.map(Number) } },
    orderBy: [{ startedAt: "asc" }, { id: "asc" }],
  });
  const byShow = new Map(shows.map((show) => [show, [] as ShowMoment[]]));
  for (const row of rows) byShow.get(String(row.show))?.push(row);
  return (show) => byShow.get(show) ?? [];
});

/** Fractions of a second are cut. */
export function wholeSeconds(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1_000) * 1_000);
}

/** A moment that has not ended lasts until now, as one that has not begun has not lasted yet. */
export function spanOf({ startedAt, endedAt }: Moment): { readonly from: Date; readonly until: Date } {
  const elapsed = Math.max(Math.ceil(Date.now() / 1_000) * 1_000, startedAt.getTime());
  return { from: startedAt, until: new Date(Math.min(endedAt?.getTime() ?? Infinity, elapsed)) };
}
