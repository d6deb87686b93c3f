import { useEffect, useState } from "preact/hooks";
import { type Caller, query, subscribe } from "../api.js";
import { type ShowAnalytics, showSubscription, showTimesQuery } from "../operations.js";
import { type Connection, follow } from "../reconnect.js";
import { spanOf, type TimelineRange, type TimelineSpan } from "../timeline.js";

/** A show's analytics, and the span of their time line. */
export interface Figures {
  readonly analytics: ShowAnalytics;
  readonly span: TimelineSpan;
}

/** The live figures of a show. The last ones are kept while it reconnects. */
export function useShow(token: string, lsId: string, range: TimelineRange) {
  const [figures, setFigures] = useState<Figures>();
  const [connection, setConnection] = useState<Connection>({ phase: "connecting" });
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    // An offline browser may keep its connections open for minutes.
    let attempt = new AbortController();
    const breakOff = () => attempt.abort();
    addEventListener("offline", breakOff, { signal });
    const open = () => {
      attempt = new AbortController();
      return watchShow(lsId, range, { token, signal: AbortSignal.any([signal, attempt.signal]) });
    };
    void follow(open, { onValue: setFigures, onConnection: setConnection }, signal);
    return () => leaving.abort();
  }, [token, lsId, range]);
  return { figures, connection };
}

/** Subscribes to a show, and again whenever the span of its time line changes. */
async function* watchShow(lsId: string, range: TimelineRange, caller: Caller): AsyncGenerator<Figures, void> {
  const { liveStream } = await query(showTimesQuery, { lsId }, caller);
  if (liveStream === null) return; // the query has thrown the error that says why
  let span = spanOf(liveStream, range);
  for (;;) {
    let next = span;
    for await (const { liveStreamAnalytics } of subscribe(showSubscription, { lsId, ...span }, caller)) {
      yield { analytics: liveStreamAnalytics, span };
      next = spanOf(liveStreamAnalytics, range);
      if (!isSame(next, span)) break;
    }
    if (isSame(next, span)) return;
    span = next;
  }
}

function isSame(one: TimelineSpan, other: TimelineSpan): boolean {
  return one.bucketSeconds === other.bucketSeconds && one.from === other.from && one.until === other.until;
}
