const dayMs = 24 * 60 * 60_000;
const charactersMax = 64;
const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** A moment, and the length of what it names: a day, or less than that. */
interface Moment {
  readonly ms: number;
  readonly lengthMs: number;
}

/**
 * Whether a time is within two dates as shops write them, each of which may be missing: ISO 8601, `31.12.2023`,
 * `28/02/2015`, `16.03.15, 17:08`, `Dec 31, 2023`, seconds since 1970. Times without a zone are UTC; an end without a time
 * includes its day.
 *
 * @returns undefined where a date cannot be read, or could be two: `05/01/2027`
 */
export function isWithin(time: number, from: string, to: string): boolean | undefined {
  const [start, end] = [from, to].map((text) => (text === "" ? null : momentOf(text)));
  if (start === undefined || end === undefined) return undefined;
  return !(start !== null && time < start.ms) && !(end !== null && time >= end.ms + end.lengthMs);
}

function momentOf(text: string): Moment | undefined {
  if (text.length > charactersMax) return undefined;
  if (/^\d{9,10}$/u.test(text)) return { ms: Number(text) * 1_000, lengthMs: 1 };
  if (/^\d{12,13}$/u.test(text)) return { ms: Number(text), lengthMs: 1 };
  const line = text.replaceAll(/\s+/gu, " ").trim();
  const at = line.search(/(?:, ?| |t)\d{1,2}:\d\d/iu);
  const day = dayOf(at === -1 ? line : line.slice(0, at));
  const clock = at === -1 ? "" : line.slice(at).replace(/^(?:, ?| |t)/iu, "");
  if (day === undefined) return undefined;
  if (clock === "") return { ms: day, lengthMs: dayMs };
  const inDay = timeOf(clock);
  return inDay === undefined ? undefined : { ms: day + inDay, lengthMs: 1 };
}

function dayOf(text: string): number | undefined {
  const [first = "", second = "", third = ""] = text.split(/[./\s,-]+/u).filter((part) => part !== "");
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

/** Undefined for what is no day of a calendar. */
function dayFrom(year: string, month: string, day: string): number | undefined {
  if (!/^(?:\d{2}|\d{4})$/u.test(year) || !/^\d{1,2}$/u.test(month) || !/^\d{1,2}$/u.test(day)) return undefined;
  const full = year.length === 2 ? 2_000 + Number(year) : Number(year);
  const ms = Date.UTC(full, Number(month) - 1, Number(day));
  const date = new Date(ms);
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) ? ms : undefined;
}

/** Milliseconds after the beginning of the day in UTC. */
function timeOf(text: string): number | undefined {
  const match = /^(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)? ?([ap]m)? ?(?:z|utc|gmt|([+-])(\d\d):?(\d\d)?)?$/iu.exec(
    text,
  );
  if (match === null) return undefined;
  const [, hour, minute, second = "0", half, sign, zoneHour = "0", zoneMinute = "0"] = match;
  const [hours, minutes, seconds] = [hoursOf(Number(hour), half), Number(minute), Number(second)];
  if (hours === undefined || minutes > 59 || seconds > 60) return undefined;
  const zone = (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === "-" ? -1 : 1);
  return ((hours * 60 + minutes - zone) * 60 + seconds) * 1_000;
}

/** @param half of the day, am or pm, where the clock has 12 hours */
function hoursOf(hours: number, half: string | undefined): number | undefined {
  if (half === undefined) return hours > 24 ? undefined : hours;
  return hours > 12 ? undefined : (hours % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
}
