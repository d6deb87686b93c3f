/** From `since` on (seconds since 1970), local time is so many seconds ahead of UTC. */
export interface ZoneOffset {
  readonly since: number;
  readonly seconds: number;
}

const daySeconds = 86_400;
/** Within this time, an offset changes at most once. */
const stepSeconds = 7 * daySeconds;

/** For messages about wrong names. */
export const aTimeZone = "an IANA time zone, such as Europe/Berlin";

/** @param name of the IANA database, in any case; not an offset such as `+02:00`. @returns undefined for any other */
export function timeZoneNamed(name: string): string | undefined {
  if (!/^[a-z]/iu.test(name)) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions();
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name; // otherwise it is another name of that zone
  } catch {
    return undefined;
  }
}

/** The offset at the start of a range of seconds since 1970, and each change within. */
export function zoneOffsets(timeZone: string, from: number, until: number): ZoneOffset[] {
  const offsetAt = offsetReader(timeZone);
  const offsets = [{ since: from, seconds: offsetAt(from) }];
  let seconds = offsetAt(from);
  for (let start = from; start < until; start += stepSeconds) {
    const end = Math.min(start + stepSeconds, until);
    if (offsetAt(end) === seconds) continue;
    let [before, after] = [start, end];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (offsetAt(middle) === seconds) before = middle;
      else after = middle;
    }
    seconds = offsetAt(after);
    offsets.push({ since: after, seconds });
  }
  return offsets;
}

/**
 * The first moment of a local day, in seconds since 1970: midnight, or later if clocks skip midnight, or the first of two midnights.
 *
 * @param day days since 1970-01-01 on the local calendar
 */
export function startOfDay(offsets: readonly ZoneOffset[], day: number): number {
  return firstShowing(offsets, day * daySeconds);
}

/** @param shown local time, written as if it were UTC. @returns when local clocks first show this or more */
function firstShowing(offsets: readonly ZoneOffset[], shown: number): number {
  for (const [index, { since, seconds }] of offsets.entries()) {
    const end = offsets[index + 1]?.since ?? Infinity;
    if (end + seconds > shown) return Math.max(shown - seconds, since);
  }
  return shown;
}

/** The moment so many days earlier when clocks first show the same time of day, or a later time if they skip it. */
export function daysBefore(timeZone: string, moment: Date, days: number): Date {
  if (days === 0) return moment;
  const seconds = moment.getTime() / 1_000;
  const shown = seconds + offsetReader(timeZone)(seconds) - days * daySeconds;
  const around = Math.floor(shown);
  const offsets = zoneOffsets(timeZone, around - 2 * daySeconds, around + 2 * daySeconds);
  return new Date(Math.round(firstShowing(offsets, shown) * 1_000));
}

/**
 * Finds the moment when clocks of a time zone show a time: the first one if they show it twice, a later one if they skip it.
 *
 * @returns a function that takes the local time as if it were UTC; both in seconds since 1970
 */
export function momentReader(timeZone: string): (shown: number) => number {
  if (timeZone === "UTC") return (shown) => shown;
  const offsetAt = offsetReader(timeZone);
  return (shown) => {
    const around = Math.floor(shown);
    const [from, until] = [around - daySeconds, around + daySeconds];
    const seconds = offsetAt(from);
    return seconds === offsetAt(until) ? shown - seconds : firstShowing(zoneOffsets(timeZone, from, until), shown);
  };
}

function offsetReader(timeZone: string): (moment: number) => number {
  const format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  return (moment) => {
    const text = format.format(moment * 1_000); // 5/4/2026, GMT+05:45
    const [, sign, hours = "0", minutes = "0", seconds = "0"] =
      /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/u.exec(text) ?? [];
    const size = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
    return sign === "-" ? -size : size;
  };
}
