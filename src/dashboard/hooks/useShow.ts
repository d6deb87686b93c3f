import { useEffect, useState } from "preact/hooks";
import { type Caller, query, subscribe } from "../api.js";
import { type ShowAnalytics, showSubscription, showTimesQuery } from "../operations.js";
import { type Connection, follow } from "../reconnect.js";
import { spanOf, type TimelineRange, type TimelineSpan } from "../timeline.js";

/** A show's figures, and the span of the time line among them. */
export interface Figures {
  readonly analytics: ShowAnalytics;
  readonly span: TimelineSpan;
}

/** The figures of a show as they change. Those that came last stay while the connection is being repaired. */
export function useShow(token: string, lsId: string, range: TimelineRange) {
  const [figures, setFigures] = useState<Figures>();
  const [connection, setConnection] = useState<Connection>({ phase: "connecting" });
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    // A browser without a network may keep its connections open for minutes: trying again shows what is the matter.
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

/** Subscribes to a show, anew whenever its time line should be coarser or ends with the show. */
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
