import { batchLookups } from "../../database/batchLookups.js";
import type { Database } from "../../database/client.js";
import type { LiveStream, ShowMoment } from "../../generated/prisma/client.js";
import { timesOf } from "../liveStream.js";

/** What a moment is, in the order of the schema. */
export const momentKinds = ["PIN", "HOST", "SEGMENT", "MARKER"] as const;
export type MomentKind = (typeof momentKinds)[number];

/** Something that happened in a show from one second until another. */
export interface Moment {
  readonly id: string;
  readonly kind: MomentKind;
  readonly startedAt: Date;
  /** Null while nothing ends it: the show is live, and no later moment of its kind is known. */
  readonly endedAt: Date | null;
  readonly productId: string | null;
  readonly hostName: string | null;
  readonly hostEmail: string | null;
  readonly title: string | null;
}

type ShowOfMoments = Parameters<typeof timesOf>[0] & Pick<LiveStream, "storeId" | "number">;

/** The moments of a show in the order of their start, then of their ids. */
export async function listMoments(db: Database, show: ShowOfMoments): Promise<readonly Moment[]> {
  const rows = await lookUpMoments(db, show.storeId, String(show.number));
  return withEnds(rows, timesOf(show).endedAt);
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

/**
 * When moments end: where they say so, but at the latest where the next of their kind starts. One that does not say lasts to the end of
 * the show, unless it started after that.
 *
 * @param rows in the order of their start
 * @param showEnd null while the show has not ended
 */
function withEnds(rows: readonly Omit<ShowMoment, "storeId">[], showEnd: Date | null): Moment[] {
  const nextStarts = new Map<string, Date>();
  const moments = rows.toReversed().map((row): Moment => {
    const { show: _, kind, startedAt, endedAt, ...others } = row;
    const next = nextStarts.get(kind);
    nextStarts.set(kind, startedAt);
    const givenEnd = endedAt ?? (showEnd !== null && startedAt < showEnd ? wholeSeconds(showEnd) : null);
    const end = next !== undefined && (givenEnd === null || next < givenEnd) ? next : givenEnd;
    return { ...others, kind: kind as MomentKind, startedAt, endedAt: end ?? (showEnd === null ? null : startedAt) };
  });
  return moments.toReversed();
}

/** Fractions of a second are cut. */
export function wholeSeconds(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1_000) * 1_000);
}

/** A moment that has not ended lasts until now, as one that has not begun has not lasted yet. */
export function spanOf(
  { startedAt, endedAt }: Pick<Moment, "startedAt" | "endedAt">,
  now = Date.now(),
): { readonly from: Date; readonly until: Date } {
  const elapsed = Math.max(Math.ceil(now / 1_000) * 1_000, startedAt.getTime());
  return { from: startedAt, until: new Date(Math.min(endedAt?.getTime() ?? Infinity, elapsed)) };
}
