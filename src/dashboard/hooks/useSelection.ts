import type { TargetedPointerEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Interval } from "../components/TimelineChart.js";

/** A selection that is not finished, from where it began to where it is now, in any order. */
const draftOf = (anchorMs: number, headMs: number) => ({
  anchorMs,
  headMs,
  fromMs: Math.min(anchorMs, headMs),
  untilMs: Math.max(anchorMs, headMs),
});

type Pointed = TargetedPointerEvent<HTMLDivElement>;

/** A shorter movement is a click. */
const dragPixels = 4;

/** At most two intervals that the user selects by dragging over a chart or by keys, in whole seconds. A third replaces the older one. */
export function useSelection({ fromMs, untilMs }: Interval, bucketSeconds: number) {
  const [intervals, setIntervals] = useState<readonly Interval[]>([]);
  const [draft, setDraft] = useState<ReturnType<typeof draftOf>>();
  const pressed = useRef<{ readonly x: number; readonly ms: number } | undefined>(undefined);
  /** Rounds to seconds within the chart, and not after now. */
  const within = (ms: number) =>
    Math.max(fromMs, Math.min(untilMs, Math.ceil(Date.now() / 1_000) * 1_000, Math.round(ms / 1_000) * 1_000));
  const select = (interval: Interval) => {
    if (interval.untilMs > interval.fromMs) setIntervals((known) => [...known.slice(-1), interval]);
  };
  const drop = () => {
    pressed.current = undefined;
    setDraft(undefined);
  };
  const clear = () => {
    drop();
    setIntervals([]);
  };

  const timeAt = ({ clientX, currentTarget }: Pointed) => {
    const { left, width } = (currentTarget.querySelector(".u-over") ?? currentTarget).getBoundingClientRect();
    return within(fromMs + ((clientX - left) / width) * (untilMs - fromMs));
  };
  const draggedTo = (event: Pointed) => {
    const { x, ms } = pressed.current ?? { x: event.clientX, ms: 0 };
    return Math.abs(event.clientX - x) < dragPixels ? undefined : draftOf(ms, timeAt(event));
  };
  const handlers = {
    onPointerDown: (event: Pointed) => {
      if (event.button !== 0 || !event.isPrimary) return;
      pressed.current = { x: event.clientX, ms: timeAt(event) };
      (event.target as Element).setPointerCapture(event.pointerId);
    },
    onPointerMove: (event: Pointed) => {
      if (pressed.current !== undefined) setDraft(draggedTo(event));
    },
    onPointerUp: (event: Pointed) => {
      const dragged = draggedTo(event);
      if (dragged !== undefined) select(dragged);
      drop();
    },
    onPointerCancel: drop, // the touch scrolls the page
  };

  /** Arrows move a cursor from bucket to bucket, with Shift they extend the selection, and Enter finishes it. */
  const onKeyDown = (event: KeyboardEvent) => {
    const { anchorMs, headMs } = draft ?? draftOf(fromMs, fromMs);
    const stepMs = bucketSeconds * 1_000;
    const buckets = (headMs - fromMs) / stepMs;
    if (event.key === "Enter") {
      select(anchorMs === headMs ? draftOf(headMs, within(headMs + stepMs)) : draftOf(anchorMs, headMs));
      return setDraft(draftOf(headMs, headMs));
    }
    const moved = new Map([
      ["ArrowLeft", fromMs + (Math.ceil(buckets) - 1) * stepMs],
      ["ArrowRight", fromMs + (Math.floor(buckets) + 1) * stepMs],
      ["Home", fromMs],
      ["End", untilMs],
    ]).get(event.key);
    if (moved === undefined) return;
    event.preventDefault();
    const head = within(moved);
    setDraft(draftOf(event.shiftKey ? anchorMs : head, head));
  };
  const onBlur = () => setDraft(undefined); // a pointer may have begun another selection, which moves the focus
  return { intervals, draft, handlers, onKeyDown, onBlur, clear };
}
