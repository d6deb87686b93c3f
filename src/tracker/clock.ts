/** Measures how long something was watched. */
export interface Clock {
  /** Counts while the element plays, or, without one, while the page is visible. What was counted before stays counted. */
  start(element?: HTMLMediaElement): void;
  isStarted(): boolean;
  /** The seconds since they were last taken, in tenths. */
  take(): number;
}

/** After all of these the element may play or not; `timeupdate` comes four times a second while it does. */
const changes = "playing pause waiting seeking seeked ended emptied timeupdate".split(" ");
/** A longer time without any sign is one in which the machine slept. Timers of hidden pages fire once a minute at least. */
const gapMsMax = 61_000;

export function createClock(): Clock {
  let element: HTMLMediaElement | undefined;
  let started = false;
  let runningSince: number | undefined;
  let countedMs = 0;

  const isRunning = (): boolean =>
    element === undefined
      ? started && document.visibilityState === "visible"
      : !element.paused && !element.ended && !element.seeking && element.readyState > 2;
  const mark = (): void => {
    const now = performance.now();
    if (runningSince !== undefined) countedMs += Math.min(now - runningSince, gapMsMax);
    runningSince = isRunning() ? now : undefined;
  };
  document.addEventListener("visibilitychange", mark);

  return {
    start(next) {
      mark();
      for (const name of changes) {
        element?.removeEventListener(name, mark);
        next?.addEventListener(name, mark);
      }
      element = next;
      started = true;
      runningSince = undefined;
      mark();
    },
    isStarted: () => started,
    take() {
      mark();
      const tenths = Math.round(countedMs / 100);
      countedMs -= tenths * 100;
      return tenths / 10;
    },
  };
}
