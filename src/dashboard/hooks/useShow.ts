import { useMemo } from "preact/hooks";
import { anyOf, type Caller, query, subscribe, readStore } from "../connection/api.js";
import { asFailure } from "../connection/failure.js";
import {
  type ShowAnalytics,
  showQuery,
  showSubscription,
  showTimesQuery,
  type TopProductFigure,
} from "../queries/show.js";
import { streamOrPoll } from "../connection/polling.js";
import { fillBuckets, isRunningAt, minuteOf, spanOf, type TimelineRange, type TimelineSpan } from "../buckets.js";
import { formatPoint } from "../format.js";
import { useFollowed } from "./usePolled.js";

export interface Figures {
  readonly analytics: ShowAnalytics;
  readonly span: TimelineSpan;
  /** The figure by which the products are ordered. */
  readonly by: TopProductFigure;
  readonly withCatalog: boolean;
  /** Whether the figures were queried, because the subscription delivers nothing. */
  readonly isPolled: boolean;
}

/** Which figures of a show are wanted. */
interface Wanted {
  readonly lsId: string;
  readonly range: TimelineRange;
  readonly by: TopProductFigure;
}

/** The live figures of a show. Keeps the last ones while it reconnects. */
export function useShow(token: string, wanted: Wanted) {
  const open = (signal: AbortSignal) => watchShow(wanted, { token, signal });
  const { value: figures, connection } = useFollowed(open, JSON.stringify([token, wanted]));
  return { figures, connection };
}

/** Subscribes to a show, and subscribes again whenever the span of its timeline changes. */
async function* watchShow({ lsId, range, by }: Wanted, caller: Caller): AsyncGenerator<Figures, void> {
  const { scopes } = await readStore(caller);
  const { liveStream } = await query(showTimesQuery, { lsId }, caller);
  if (liveStream === null) return; // the query has thrown the error that says why
  const withCatalog = scopes.includes("catalog:read");
  const order = by.toUpperCase() as Uppercase<TopProductFigure>;
  let span = spanOf(liveStream, range);
  for (;;) {
    let next = span;
    const variables = { lsId, withCatalog, by: order, startMinute: minuteOf(span.from), ...span };
    const delivered = streamOrPoll<{ readonly liveStreamAnalytics: ShowAnalytics | null }>({
      open: (onData, closing) =>
        subscribe(showSubscription, variables, { ...caller, signal: anyOf(caller.signal, closing) }, onData),
      poll: () => query(showQuery, variables, caller),
    });
    for await (const { value, isPolled } of delivered) {
      const analytics = value.liveStreamAnalytics;
      if (analytics === null) throw asFailure(undefined); // the query has thrown the error that says why
      yield { analytics, span, by, withCatalog, isPolled };
      next = spanOf(analytics, range);
      if (!isSame(next, span)) break;
    }
    if (isSame(next, span)) return;
    span = next;
  }
}

function isSame(one: TimelineSpan, other: TimelineSpan): boolean {
  return one.bucketSeconds === other.bucketSeconds && one.from === other.from && one.until === other.until;
}

/** Properties that all charts of a show's timeline share. */
export function useTimeline({ timeline, watchingNow }: ShowAnalytics, span: TimelineSpan) {
  const points = useMemo(() => fillBuckets(timeline, span, Date.now(), watchingNow), [timeline, span, watchingNow]);
  const [first, last] = [points[0]?.startsAtMs ?? 0, points.at(-1)?.startsAtMs ?? 0];
  const formatTime = (ms: number) => formatPoint(ms, span.bucketSeconds, last - first);
  return { bucketSeconds: span.bucketSeconds, points, formatTime, isRunning: isRunningAt(last, span) };
}
