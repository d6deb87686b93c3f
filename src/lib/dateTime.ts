/** RFC 3339, 5.6: letters in either case, a fraction of any length, and second 60 if a leap second is possible. */
const rfc3339 =
  /^\d{4}-\d{2}-\d{2}[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/u;

/** What `parseDateTime` takes, for messages. */
export const dateTimeName = "an ISO 8601 timestamp with a time zone";

/** Later years have more digits than ISO 8601 allows without prior agreement. */
export const dateTimeMax = new Date("9999-12-31T23:59:59.999Z");

/**
 * Parses an RFC 3339 timestamp in the years 1 to 9999 UTC, which JavaScript and PostgreSQL write alike. Undefined for any other
 * text, and for days that do not exist. A leap second counts as the second after it, as on computers' clocks.
 */
export function parseDateTime(text: string): Date | undefined {
  if (!rfc3339.test(text)) return undefined;
  const isUpper = text.charAt(dayLength) === "T" && !text.endsWith("z"); // cheaper than a second pattern
  const upper = isUpper ? text : text.toUpperCase();
  const moment = text.charAt(secondsAt) === "6" ? afterLeapSecond(upper) : new Date(upper);
  if (moment === undefined || Number.isNaN(moment.getTime()) || !isDay(text.slice(0, dayLength))) return undefined;
  const year = moment.getUTCFullYear();
  return year >= 1 && year <= 9999 ? moment : undefined;
}

/**
 * Restores the `+` of a timestamp from a query string, where an unencoded `+` arrives as a blank: before a time zone, a blank
 * can only have been a `+`.
 */
export function withPlus(text: string): string {
  return text.replace(/ (?=\d{2}:\d{2}$)/u, "+");
}

const dayLength = "2026-02-28".length;
const secondsAt = "2026-02-28T00:00:".length;

/** JavaScript reads February 30 as March 2. */
function isDay(day: string): boolean {
  if (day.slice(-2) <= "28") return true; // every month has it; the check below takes longer than all others
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

/** A leap second can end any month of UTC; which ones is not known in advance. */
function afterLeapSecond(text: string): Date | undefined {
  const before = new Date(`${text.slice(0, secondsAt)}59${text.slice(secondsAt + 2)}`);
  const moment = new Date(before.getTime() + 1_000);
  const isMonthEnd = moment.getUTCDate() === 1 && moment.getUTCHours() + moment.getUTCMinutes() === 0;
  return isMonthEnd && moment.getUTCSeconds() === 0 ? moment : undefined;
}
