/** From this moment on, in seconds since 1970, local time is so many seconds ahead of UTC. */
export interface ZoneOffset {
  readonly since: number;
  readonly seconds: number;
}

const daySeconds = 86_400;
/** Offsets change at most once in this time. */
const stepSeconds = 7 * daySeconds;

/** Names of the IANA database, in any case; not offsets such as `+02:00`. */
export function isTimeZone(name: string): boolean {
  if (!/^[a-z]/iu.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
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
 * The first moment of a local day, in seconds since 1970: midnight, or later where clocks skip midnight, or the first
 * of two midnights.
 *
 * @param day days since 1970-01-01, on local calendars
 */
export function startOfDay(offsets: readonly ZoneOffset[], day: number): number {
  const midnight = day * daySeconds;
  for (const [index, { since, seconds }] of offsets.entries()) {
    const end = offsets[index + 1]?.since ?? Infinity;
    if (end + seconds > midnight) return Math.max(midnight - seconds, since);
  }
  return midnight;
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
