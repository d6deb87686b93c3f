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

/**
 * The element may then have started or stopped, or have left the page, which pauses it; `timeupdate` comes four times a second
 * while it plays.
 */
const changes = "playing pause waiting seeking emptied ratechange timeupdate".split(" ");
/** After a longer gap the machine slept: timers of hidden pages fire at least once a minute. */
const gapMsMax = 61_000;
/** For players without such events, and those that come where none of their events can be heard: in shadow roots and frames. */
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
      ? !(element.paused || element.ended || element.seeking || element.playbackRate === 0) && element.readyState > 2
      : isPage && !document.hidden;
  const mark = (): void => {
    const now = performance.now();
    if (runningSince) countedMs += Math.min(now - runningSince, gapMsMax);
    runningSince = isRunning() ? now : undefined;
  };
  const change = (next: Media | undefined, page: boolean): void => {
    mark();
    for (const name of changes) {
      element?.removeEventListener(name, look);
      next?.addEventListener(name, look);
    }
    [element, isPage, runningSince] = [next, page, undefined];
    mark();
    if (!isAwaited || !(next || page)) return;
    isAwaited = false;
    onStart();
  };
  const look = (): void => {
    mark();
    if (!wanted || isInPage(element)) return;
    const next = mediaOf(wanted);
    if (next !== element) change(next, false);
  };
  on("visibilitychange", mark);
  on("playing", look);
  // A page that the browser keeps for going back may have a player that does not know it.
  on("pagehide", () => element && change(undefined, false));
  on("pageshow", look);
  setInterval(() => attempt(look), lookEveryMs);

  return {
    start(target) {
      const next = mediaOf(target);
      isAwaited = true;
      wanted = target;
      change(next, !target);
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
