const isoDateTime = /^\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/u;

/** Later years have more digits than ISO 8601 allows without prior agreement. */
export const dateTimeMax = new Date("9999-12-31T23:59:59.999Z");

/**
 * An ISO 8601 timestamp with a time zone, in the years 1 to 9999 UTC, which JavaScript and PostgreSQL write alike;
 * undefined for any other text, and for days that do not exist.
 */
export function parseDateTime(text: string): Date | undefined {
  if (!isoDateTime.test(text)) return undefined;
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime()) || !isDay(text.slice(0, dayLength))) return undefined;
  const year = moment.getUTCFullYear();
  return year >= 1 && year <= 9999 ? moment : undefined;
}

const dayLength = "2026-02-28".length;

/** JavaScript reads February 30 as March 2. */
function isDay(day: string): boolean {
  if (day.slice(-2) <= "28") return true; // each month has it, and the rest takes longer than all other checks
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}
