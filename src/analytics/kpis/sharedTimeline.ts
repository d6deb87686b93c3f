import type { Database } from "../../database/client.js";
import type { LiveStreamAnalytics } from "./kpis.read.js";
import { shared } from "./shared.js";
import { readTimeline, type TimelineBucket } from "./timeline.js";
import { type TimelineSpan, wholeMinutes } from "./timeline.sql.js";

/** A timeline from a minute on; times are in seconds since 1970. */
interface Line {
  readonly from: number;
  readonly buckets: readonly TimelineBucket[];
}

/**
 * `readTimeline` for all who hold the same analytics. Of timelines that differ only in where they begin, as those of
 * later subscribers, at most two are read, and the others are parts of these.
 *
 * @throws {AppError} VALIDATION_FAILED as `readTimeline`
 */
export async function sharedTimeline(
  db: Database,
  analytics: LiveStreamAnalytics,
  bucketSeconds: number,
  span: TimelineSpan,
): Promise<readonly TimelineBucket[]> {
  const { storeId, id } = analytics;
  const { from, until } = wholeMinutes(span);
  const key = [bucketSeconds, String(until)];
  const line = (name: string, since: TimelineSpan["from"], start: number) =>
    shared<Line>(analytics, JSON.stringify([name, ...key]), async () => {
      return { from: start, buckets: await readTimeline(db, storeId, id, bucketSeconds, { ...span, from: since }) };
    });
  const isWhole = from === -Infinity || from % bucketSeconds === 0;
  // A part of its first bucket would be missing.
  if (!isWhole) return (await line(`timeline from ${from}`, span.from, from)).buckets;
  const first = await line("first timeline", span.from, from);
  if (first.from === from) return first.buckets;
  const covering = first.from < from ? first : await line("timeline", null, -Infinity);
  return covering.buckets.filter(({ startsAt }) => startsAt.getTime() >= from * 1_000);
}
