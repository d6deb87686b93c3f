import { attempt, on } from "./guard.js";
import { isInPage, type Media, mediaOf, type Target } from "./media.js";

/** Measures how long something was watched. */
export interface Clock {
  /**
   * While the target plays, or, without one, while the page is visible. What was counted before stays. Waits for a target that
   * is not in the page yet, and follows one that is replaced.
   */
  start(target?: Target): void;
  stop(): void;
  /** For another show: the time that a page is visible belongs to one alone. @returns whether a player goes on */
  goOn(): boolean;
  /** Seconds since they were last taken, in tenths. */
  take(): number;
}

/** The element may then have started or stopped; `timeupdate` comes four times a second while it plays. */
const changes = "playing pause waiting seeking ended emptied timeupdate".split(" ");
/** After a longer gap the machine slept: timers of hidden pages fire at least once a minute. */
const gapMsMax = 61_000;
const lookEveryMs = 1_000;

/** @param onStart is called when something begins to be watched */
export function createClock(onStart: () => void): Clock {
  let wanted: Target | undefined;
  let isAwaited = false;
  let element: Media | undefined;
  let isPage = false;
  let runningSince: number | undefined;
  let countedMs = 0;

  const isRunning = (): boolean =>
    element
      ? !element.paused && !element.ended && !element.seeking && element.readyState > 2
      : isPage && !document.hidden;
  const mark = (): void => {
    const now = performance.now();
    if (runningSince) countedMs += Math.min(now - runningSince, gapMsMax);
    runningSince = isRunning() ? now : undefined;
  };
  const change = (next: Media | undefined, page: boolean): void => {
    mark();
    for (const name of changes) {
      element?.removeEventListener(name, mark);
      next?.addEventListener(name, mark);
    }
    [element, isPage, runningSince] = [next, page, undefined];
    mark();
    if (!isAwaited || !(next || page)) return;
    isAwaited = false;
    onStart();
  };
  const look = (): void => {
    if (!wanted || isInPage(element)) return;
    const next = mediaOf(wanted);
    if (next !== element) change(next, false);
  };
  on(document, "visibilitychange", mark);
  setInterval(() => attempt(look), lookEveryMs);

  return {
    start(target) {
      isAwaited = true;
      wanted = target;
      change(mediaOf(target), !target);
    },
    stop() {
      wanted = undefined;
      change(undefined, false);
    },
    goOn() {
      if (isPage) change(undefined, false);
      return !!element;
    },
    take() {
      mark();
      const seconds = Math.round(countedMs / 100) / 10;
      countedMs -= seconds * 1_000;
      return seconds;
    },
  };
}
