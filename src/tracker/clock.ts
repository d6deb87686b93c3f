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
 * The clocks of a page, which look at it together: of those that watch the same, one counts at a time, so that a second of a show
 * counts once, however many players it has.
 *
 * @param counted what clocks before it have counted since they looked last
 */
export type Look = (now: number, counted: Set<string>) => void;

/**
 * The element may then have started or stopped, or have left the page, which pauses it; `timeupdate` comes four times a second
 * while it plays.
 */
const changes = "playing pause waiting seeking emptied ratechange timeupdate".split(" ");
/** After a longer gap the machine slept: timers of hidden pages fire at least once a minute. */
const gapMsMax = 61_000;
/** For players without such events, and those that come where none of their events can be heard: in shadow roots and frames. */
const lookEveryMs = 1_000;
/** Shadow roots and frames are found by looking at all elements of the page. */
const lookDeeplyEveryMs = 10_000;

/**
 * @param onStart is called when something begins to be watched
 * @param nameOf of what is watched now, such as key and show
 */
export function createClock(onStart: () => void, nameOf = (): string => "", clocks: Look[] = []): Clock {
  let wanted: Target | undefined;
  let isAwaited = false;
  let element: Media | null | undefined;
  let isPage = false;
  let nextDeepLook = 0;
  let isRunning = false;
  let lookedAt = 0;
  let countedMs = 0;

  const seeWhetherItRuns = (): void => {
    isRunning = element
      ? !(element.paused || element.ended || element.seeking || element.playbackRate === 0) && element.readyState > 2
      : isPage && !document.hidden;
  };
  clocks.push((now, counted) => {
    if (isRunning && counted.size < counted.add(nameOf()).size) countedMs += Math.min(now - lookedAt, gapMsMax);
    lookedAt = now;
    seeWhetherItRuns();
  });
  const mark = (): void => {
    const now = performance.now();
    const counted = new Set<string>();
    for (const each of clocks) each(now, counted);
  };
  const change = (next?: Media | null, page = false): void => {
    mark();
    for (const name of changes) {
      element?.removeEventListener(name, look);
      next?.addEventListener(name, look);
    }
    element = next;
    isPage = page;
    seeWhetherItRuns();
    if (!isAwaited || !(next || page)) return;
    isAwaited = false;
    onStart();
  };
  const find = (isDeep: boolean): void => {
    if (!wanted || isInPage(element)) return;
    const next = mediaOf(wanted, isDeep);
    if (next !== element) change(next);
  };
  const look = (): void => {
    mark();
    find(false);
    if (!wanted || element || performance.now() < nextDeepLook) return;
    nextDeepLook = performance.now() + lookDeeplyEveryMs;
    // Safari has no idle callbacks.
    (self.requestIdleCallback ?? setTimeout)(() => attempt(() => find(true)));
  };
  on("visibilitychange", mark);
  on("playing", look);
  // A page that the browser keeps for going back may have a player that does not know it.
  on("pagehide", () => element && change());
  on("pageshow", look);
  setInterval(() => attempt(look), lookEveryMs);

  return {
    start(target) {
      const next = mediaOf(target, false);
      isAwaited = true;
      wanted = target;
      nextDeepLook = 0;
      change(next, !target);
      look();
    },
    stop() {
      wanted = undefined;
      change();
    },
    goOn() {
      if (isPage) change();
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
