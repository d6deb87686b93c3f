/** The store's time zone, in which the page shows all days and times of day. */
let zone = "UTC";
let clock = clockOf(zone);
const formats = new Map<string, Intl.DateTimeFormat>();

export const timeZone = (): string => zone;

/** @param name an IANA name; if this browser does not know it, UTC is used */
export function setTimeZone(name: string): void {
  if (name === zone) return;
  zone = isKnown(name) ? name : "UTC";
  clock = clockOf(zone);
  formats.clear();
}

/** A cached format in the store's time zone. */
export function dateFormat(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([locale, options]);
  const known = formats.get(key) ?? new Intl.DateTimeFormat(locale, { ...options, timeZone: zone });
  formats.set(key, known);
  return known;
}

/** What the store's clocks show at a moment, as the moment at which UTC clocks show the same. */
export function shownAt(ms: number): number {
  const parts = new Map(clock.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const shown = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
  return shown + (((ms % 1_000) + 1_000) % 1_000);
}

const dayMs = 86_400_000;

/**
 * The moment at which the store's clocks show a time; the first, if they show it twice. If they skip it, the moment that comes as much
 * later, so that a skipped midnight is the first moment of its day.
 *
 * @param shown as returned by shownAt
 */
export function momentShowing(shown: number): number {
  const before = shown - offsetAt(shown - dayMs);
  const after = shown - offsetAt(shown + dayMs);
  const found = [before, after].filter((ms) => shownAt(ms) === shown);
  return found.length === 0 ? before : Math.min(...found);
}

function offsetAt(ms: number): number {
  return shownAt(ms) - ms;
}

function clockOf(timeZoneName: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-US", {
    timeZone: timeZoneName,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
}

function isKnown(name: string): boolean {
  try {
    return clockOf(name).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
