import type { Interval } from "../components/TimelineChart.js";
import { anyOf, type Caller, query, subscribe } from "../connection/api.js";
import { streamOrPoll } from "../connection/polling.js";
import { wait } from "../connection/reconnect.js";
import { type IntervalAnalytics, intervalsQuery, intervalsSubscription } from "../queries/intervals.js";
import { useFollowed } from "./usePolled.js";

/** Whose figures are wanted. */
interface Wanted {
  readonly lsId: string;
  /** The id of the pin that is shown. */
  readonly pin: string | undefined;
  /** At most two. */
  readonly intervals: readonly Interval[];
}

/** The live figures of a pin and of selected intervals, by a subscription of their own: those of the show are the same for all its pages. */
export function useIntervalFigures(token: string, wanted: Wanted) {
  const open = (signal: AbortSignal) => watchIntervals(wanted, { token, signal });
  const { value, connection } = useFollowed(open, JSON.stringify([token, wanted]));
  const { one, other, moments } = value?.analytics ?? {};
  const failure = "failure" in connection ? connection.failure : undefined;
  return {
    ofPin: value?.pin === wanted.pin ? moments?.[0]?.figures : undefined,
    problem: failure?.kind === "unreachable" ? undefined : failure?.message, // then the show's figures fail, too, and it says so
    ofIntervals: wanted.intervals.map((interval) => [one, other][value?.intervals.indexOf(interval) ?? -1]),
  };
}

/** A pointer that moves over several pins asks for the last one only. */
const restMs = 150;

/** Streams while the tab is visible, because browsers open few connections to a server. */
async function* watchIntervals({ lsId, pin, intervals }: Wanted, { token, signal }: Required<Caller>) {
  const [one, other] = intervals;
  await wait(pin === undefined && one === undefined ? {} : { ms: restMs }, signal);
  if (document.visibilityState !== "visible") await wait({ events: [[document, "visibilitychange"]] }, signal);
  const hidden = new AbortController();
  document.addEventListener("visibilitychange", () => hidden.abort(), { signal, once: true });
  const iso = (ms = 0) => new Date(ms).toISOString();
  const variables = {
    lsId,
    pin: pin ?? "",
    withPin: pin !== undefined,
    from: iso(one?.fromMs),
    until: iso(one?.untilMs),
    withOne: one !== undefined,
    otherFrom: iso(other?.fromMs),
    otherUntil: iso(other?.untilMs),
    withOther: other !== undefined,
  };
  const delivered = streamOrPoll<{ readonly liveStreamAnalytics: IntervalAnalytics | null }>({
    open: (onData, closing) =>
      subscribe(intervalsSubscription, variables, { token, signal: anyOf(signal, closing, hidden.signal) }, onData),
    poll: () => query(intervalsQuery, variables, { token, signal }),
  });
  for await (const { value } of delivered) yield { pin, intervals, analytics: value.liveStreamAnalytics };
}
