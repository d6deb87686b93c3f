/** Measures how long something was watched. */
export interface Clock {
  /** While the element plays, or, without one, the page is visible. What was counted before stays. */
  start(element?: HTMLMediaElement): void;
  isStarted(): boolean;
  /** Seconds since they were last taken, in tenths. */
  take(): number;
}

/** The element may then have started or stopped; `timeupdate` comes four times a second while it plays. */
const changes = "playing pause waiting seeking seeked ended emptied timeupdate".split(" ");
/** After a longer gap the machine slept: timers of hidden pages fire at least once a minute. */
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
