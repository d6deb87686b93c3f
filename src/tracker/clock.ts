import { attempt, on } from "./guard.js";
import { isInPage, type Media, mediaOf, type Target } from "./media.js";

/** Measures how long something was watched. */
export interface Clock {
  /**
   * Counts while the target plays or, without a target, while the page is visible. Keeps what was counted before. Waits for a
   * target that is not in the page yet, and follows one that is replaced.
   */
  start(target?: Target): void;
  stop(): void;
  /** Call this when the show changes: stops counting the visible page, but not a player. @returns whether a player goes on */
  goOn(): boolean;
  /** Takes the seconds since the last call, in tenths. */
  take(): number;
}

/**
 * All clocks of a page look together. Of clocks that watch the same show, only one counts at a time, so that a second of a show counts
 * once, however many players the page has.
 *
 * @param counted names of what earlier clocks have counted in this look
 */
export type Look = (now: number, counted: Set<string>) => void;

/**
 * Events after which the element may have started or stopped, or have left the page, which pauses it. While it plays, `timeupdate`
 * comes four times a second.
 */
const changes = "playing pause waiting seeking emptied ratechange timeupdate".split(" ");
/** A longer gap means that the machine slept, because timers of hidden pages fire at least once a minute. */
const gapMsMax = 61_000;
/** For players without these events, and for those whose events we cannot hear, in shadow roots and frames. */
const lookEveryMs = 1_000;
/** Less often, because finding shadow roots and frames means looking at all elements of the page. */
const lookDeeplyEveryMs = 10_000;

/**
 * @param onStart called when watching begins
 * @param nameOf names what is watched now, such as by key and show
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
  // If the browser keeps the page for going back, its player may not notice.
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
