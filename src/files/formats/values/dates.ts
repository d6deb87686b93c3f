import { momentReader } from "../../../lib/timeZone.js";

const daySeconds = 24 * 60 * 60;
const charactersMax = 64;
const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** The time that a date names, in milliseconds: a day or less. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** The time between two dates, either of which may be open. */
export interface DateRange {
  readonly from: Span | null;
  readonly to: Span | null;
}

const [hourMax, offsetHoursMax] = [24, 14] as const;

/**
 * Reads dates as shops write them: ISO 8601, `31.12.2023`, `28/02/2015`, `16.03.15, 17:08`, `Dec 31, 2023`, seconds since 1970. A
 * date without a zone is in the shop's zone; an end without a time includes its day.
 */
export class DateReader {
  readonly #momentOf: (shown: number) => number;

  constructor(timeZone: string) {
    this.#momentOf = momentReader(timeZone);
  }

  /**
   * Whether a time is within two dates, either of which may be missing.
   *
   * @returns undefined if a date cannot be read or is ambiguous: `05/01/2027`
   */
  isWithin(time: number, from: string, to: string): boolean | undefined {
    const [start, end] = [from, to].map((text) => (text === "" ? null : this.#spanOf(text)));
    return start === undefined || end === undefined ? undefined : isIn(time, { from: start, to: end });
  }

  /** Like `isWithin`, for a text with both dates separated by a slash, which may leave one open, or by a dash, a word or a blank. */
  isWithinRange(time: number, text: string): boolean | undefined {
    if (text.length > 2 * charactersMax) return undefined;
    const found = new Map<string, DateRange>();
    for (const { index, 0: separator } of text.matchAll(separators)) {
      const [left, right] = [text.slice(0, index).trim(), text.slice(index + separator.length).trim()];
      const range = this.#rangeOf(left, right, separator.includes("/"));
      if (range !== undefined) found.set(JSON.stringify(range), range);
    }
    const [range, ...others] = found.values();
    return range === undefined || others.length > 0 ? undefined : isIn(time, range);
  }

  #rangeOf(left: string, right: string, mayBeOpen: boolean): DateRange | undefined {
    if (left === right && left === "") return undefined;
    if (!mayBeOpen && (left === "" || right === "")) return undefined;
    const from = left === "" ? null : this.#spanOf(left);
    const to = right === "" ? null : this.#spanOf(right, true);
    return from === undefined || to === undefined ? undefined : { from, to };
  }

  /** @param isEnd of a time of day with two ends (`T0:00-23:59`), takes the later one */
  #spanOf(text: string, isEnd = false): Span | undefined {
    if (text.length > charactersMax) return undefined;
    if (/^\d{9,10}$/u.test(text)) return instant(Number(text) * 1_000);
    if (/^\d{12,13}$/u.test(text)) return instant(Number(text));
    const line = withSeparators(text.replaceAll(/\s+/gu, " ").trim().replace(weekday, ""));
    const at = line.search(/(?:, ?| |t)\d{1,2}:\d\d/iu);
    const day = dayOf(at === -1 ? line : line.slice(0, at));
    const clock = at === -1 ? "" : line.slice(at).replace(/^(?:, ?| |t)/iu, "");
    if (day === undefined) return undefined;
    const [start, end] = [this.#momentOf(day), this.#momentOf(day + daySeconds)];
    if (clock === "") return { start: start * 1_000, end: end * 1_000 };
    const time = timeOf(clock, isEnd);
    if (time === undefined) return undefined;
    const shown = day + time.seconds;
    return instant((time.offset === undefined ? this.#momentOf(shown) : shown - time.offset) * 1_000);
  }
}

const separators = /\s*(?:\/|--|[-\u2013\u2014,;|]|\s(?:to|until|till|bis|au|al|do|tot|a)\s)\s*|\s+/giu;
const weekday = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /iu;

function instant(start: number): Span {
  return { start, end: start + 1 };
}

function isIn(time: number, { from, to }: DateRange): boolean {
  return !(from !== null && time < from.start) && !(to !== null && time >= to.end);
}

/** ISO 8601 without hyphens and colons: `20260310T1200`. */
function withSeparators(text: string): string {
  return text.replace(
    /^(\d{4})(\d\d)(\d\d)(?:(?=$)|t(\d\d)(\d\d)(\d\d)?)/iu,
    (_, year: string, month: string, day: string, hour?: string, minute = "00", second = "00") =>
      `${year}-${month}-${day}${hour === undefined ? "" : `T${hour}:${minute}:${second}`}`,
  );
}

/** In seconds since 1970, in UTC. */
function dayOf(text: string): number | undefined {
  const parts = text.split(/[./\s,-]+/u).filter((part) => part !== "");
  return parts.length > 3 ? undefined : dayOfParts(parts, text);
}

function dayOfParts([first = "", second = "", third = ""]: readonly string[], text: string): number | undefined {
  const [separator] = /[./-]/u.exec(text) ?? [];
  if (/^\d{4}$/u.test(first)) return dayFrom(first, second, third);
  const [firstMonth, secondMonth] = [monthOf(first), monthOf(second)];
  if (firstMonth !== undefined) return dayFrom(third, firstMonth, second);
  if (secondMonth !== undefined) return dayFrom(third, secondMonth, first);
  if (separator === "." || Number(first) > 12 || first === second) return dayFrom(third, second, first);
  return Number(second) > 12 ? dayFrom(third, first, second) : undefined;
}

function monthOf(name: string): string | undefined {
  const at = months.indexOf(name.toLowerCase().slice(0, 3));
  return at === -1 || /\d/u.test(name) ? undefined : String(at + 1);
}

/** Undefined for a day that does not exist. */
function dayFrom(year: string, month: string, day: string): number | undefined {
  if (!/^(?:\d{2}|\d{4})$/u.test(year) || !/^\d{1,2}$/u.test(month) || !/^\d{1,2}$/u.test(day)) return undefined;
  const full = year.length === 2 ? 2_000 + Number(year) : Number(year);
  const ms = Date.UTC(full, Number(month) - 1, Number(day));
  const date = new Date(ms);
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) ? ms / 1_000 : undefined;
}

interface TimeOfDay {
  /** Since the beginning of the day. */
  readonly seconds: number;
  /** Seconds ahead of UTC, if stated. */
  readonly offset: number | undefined;
}

const clockPattern =
  /^(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)? ?([ap]m)? ?(z|utc|gmt)? ?(?:([+-])(\d{1,2})(?::?(\d\d))?)?$/iu;

/** Meta's template has the first and the last time of a day, `0:00-23:59`, in place of a zone. */
function timeOf(text: string, isEnd: boolean): TimeOfDay | undefined {
  const [, hour, minute, second = "0", half, utc, sign, zoneHour = "0", zoneMinute = "0"] =
    clockPattern.exec(text) ?? [];
  const start = secondsOf(hoursOf(Number(hour), half), Number(minute), Number(second));
  if (start === undefined) return undefined;
  const zone = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60;
  if (zone <= offsetHoursMax * 60 * 60) {
    const isSaid = utc !== undefined || sign !== undefined;
    return { seconds: start, offset: isSaid ? signed(zone, sign) : undefined };
  }
  const last = secondsOf(hoursOf(Number(zoneHour), undefined), Number(zoneMinute), 0);
  return last === undefined || sign !== "-" ? undefined : { seconds: isEnd ? last : start, offset: undefined };
}

function signed(zone: number, sign: string | undefined): number {
  return sign === "-" ? -zone : zone;
}

function secondsOf(hours: number | undefined, minutes: number, seconds: number): number | undefined {
  if (hours === undefined || !(minutes <= 59) || seconds > 60) return undefined;
  return (hours * 60 + minutes) * 60 + seconds;
}

/** @param half of the day, am or pm, if the clock has 12 hours */
function hoursOf(hours: number, half: string | undefined): number | undefined {
  if (half === undefined) return hours > hourMax || Number.isNaN(hours) ? undefined : hours;
  return hours > 12 ? undefined : (hours % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
}
