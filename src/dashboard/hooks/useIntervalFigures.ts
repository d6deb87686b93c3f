import { useEffect, useState } from "preact/hooks";
import type { Interval } from "../components/TimelineChart.js";
import { anyOf, query, subscribe } from "../connection/api.js";
import { streamOrPoll } from "../connection/polling.js";
import { follow, wait } from "../connection/reconnect.js";
import { type IntervalAnalytics, intervalsQuery, intervalsSubscription } from "../queries/intervals.js";

/** A pointer that moves over several pins asks for the last one only. */
const restMs = 150;

/**
 * The live figures of a pin, by its id, and of selected intervals. They come by a subscription of their own, which costs no analytics
 * reads. It is open only while something is wanted and the tab is visible, because browsers open few connections to a server.
 */
export function useIntervalFigures(
  token: string,
  lsId: string,
  pin: string | undefined,
  intervals: readonly Interval[],
) {
  const [answer, setAnswer] = useState({
    pin,
    intervals,
    analytics: undefined as IntervalAnalytics | null | undefined,
  });
  const [isVisible, setVisible] = useState(true);
  useEffect(() => {
    const update = () => setVisible(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", update);
    return () => document.removeEventListener("visibilitychange", update);
  }, []);
  const isWanted = isVisible && (pin !== undefined || intervals.length > 0);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const variables = variablesOf(lsId, pin, intervals);
    const open = async function* () {
      await wait({ ms: restMs }, signal);
      yield* streamOrPoll<{ readonly liveStreamAnalytics: IntervalAnalytics | null }>({
        open: (onData, closing) =>
          subscribe(intervalsSubscription, variables, { token, signal: anyOf(signal, closing) }, onData),
        poll: () => query(intervalsQuery, variables, { token, signal }),
      });
    };
    const onValue = ({ value }: { readonly value: { readonly liveStreamAnalytics: IntervalAnalytics | null } }) =>
      setAnswer({ pin, intervals, analytics: value.liveStreamAnalytics });
    if (isWanted) void follow(open, { onValue, onConnection: () => {} }, signal);
    return () => leaving.abort();
  }, [token, lsId, pin, intervals, isWanted]);
  const { one, other, moments } = answer.analytics ?? {};
  return {
    ofPin: answer.pin === pin ? moments?.[0]?.figures : undefined,
    ofIntervals: intervals.map((interval) => [one, other][answer.intervals.indexOf(interval)]),
  };
}

function variablesOf(lsId: string, pin: string | undefined, [one, other]: readonly Interval[]) {
  const iso = (ms = 0) => new Date(ms).toISOString();
  const [from, until] = [iso(one?.fromMs), iso(one?.untilMs)];
  const [otherFrom, otherUntil] = [iso(other?.fromMs), iso(other?.untilMs)];
  const wanted = { withPin: pin !== undefined, withOne: one !== undefined, withOther: other !== undefined };
  return { lsId, pin: pin ?? "", ...wanted, from, until, otherFrom, otherUntil };
}
