const isoDateTime = /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/u;

/** Later years have more digits than ISO 8601 allows without prior agreement. */
export const dateTimeMax = new Date("9999-12-31T23:59:59.999Z");

/**
 * An ISO 8601 timestamp with a time zone, in the years 1 to 9999 UTC, which JavaScript and PostgreSQL write alike;
 * undefined for any other text, and for days that do not exist.
 */
export function parseDateTime(text: string): Date | undefined {
  const [, day] = isoDateTime.exec(text) ?? [];
  const moment = new Date(text);
  if (day === undefined || Number.isNaN(moment.getTime()) || !isDay(day)) return undefined;
  const year = moment.getUTCFullYear();
  return year >= 1 && year <= 9999 ? moment : undefined;
}

/** JavaScript reads February 30 as March 2. */
function isDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}
