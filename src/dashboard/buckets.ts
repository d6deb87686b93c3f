import type { TimelineBucket } from "./queries/show.js";

/** What the timeline covers: the show itself, or everything since its start. */
export type TimelineRange = "show" | "all";

export interface TimelineSpan {
  readonly bucketSeconds: number;
  /** ISO 8601, like `until`. */
  readonly from: string;
  /** Null means until now. */
  readonly until: string | null;
}

interface ShowTimes {
  readonly status: string;
  readonly startedAt: string;
  readonly endedAt: string | null | undefined;
}

const bucketSizes = [60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400];
/** A chart has room for about this many bars. */
const bucketsWanted = 90;
/** The API's maximum. */
const bucketsMax = 1_500;

/** The span of a show's timeline, with buckets of a size that fits its length. */
export function spanOf({ status, startedAt, endedAt }: ShowTimes, range: TimelineRange, nowMs = Date.now()) {
  const isOver = status !== "LIVE" && endedAt !== null && endedAt !== undefined;
  const until = isOver && range === "show" ? endedAt : null;
  const seconds = ((until === null ? nowMs : Date.parse(until)) - Date.parse(startedAt)) / 1_000;
  const bucketSeconds = bucketSizes.find((size) => seconds / size <= bucketsWanted) ?? 86_400;
  return { bucketSeconds, from: startedAt, until } satisfies TimelineSpan;
}

/** Rounds down to the minute, because the API's timeline includes the whole minute in which it ends. */
export function minuteOf(iso: string): string {
  return new Date(Math.floor(Date.parse(iso) / 60_000) * 60_000).toISOString();
}

/** A bucket, which may be empty. */
export interface Point extends Omit<TimelineBucket, "startsAt"> {
  readonly startsAtMs: number;
}

/** Whether a bucket has begun and not ended, so that its figures still grow. */
export function isRunningAt(
  startsAtMs: number,
  { bucketSeconds, until }: Pick<TimelineSpan, "bucketSeconds" | "until">,
  nowMs = Date.now(),
): boolean {
  return until === null && nowMs >= startsAtMs && nowMs < startsAtMs + bucketSeconds * 1_000;
}

/**
 * Adds the empty buckets of the span, which the API omits. Leaves out the current bucket while it is empty, because it would look as if
 * all viewers had left. It never has fewer viewers than watch now.
 */
export function fillBuckets(
  buckets: readonly TimelineBucket[],
  { bucketSeconds, from, until }: TimelineSpan,
  nowMs = Date.now(),
  watchingNow?: number | null,
): Point[] {
  const sizeMs = bucketSeconds * 1_000;
  const bucketAt = (ms: number) => Math.floor(ms / sizeMs);
  const endMs = until === null ? nowMs : Date.parse(until) - 1; // exclusive
  const known = new Map(buckets.map(({ startsAt, ...figures }) => [bucketAt(Date.parse(startsAt)), figures]));
  const hasJustBegun = until === null && !known.has(bucketAt(endMs));
  const last = Math.max(bucketAt(endMs) - (hasJustBegun ? 1 : 0), bucketAt(Date.parse(from)));
  const first = Math.max(bucketAt(Date.parse(from)), last - bucketsMax + 1);
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const isRunning = isRunningAt((first + index) * sizeMs, { bucketSeconds, until }, nowMs);
    const figures = known.get(first + index) ?? { viewers: 0, carts: 0, orders: 0, sales: 0 };
    const viewers = isRunning ? Math.max(figures.viewers, watchingNow ?? 0) : figures.viewers;
    return { startsAtMs: (first + index) * sizeMs, ...figures, viewers };
  });
}
