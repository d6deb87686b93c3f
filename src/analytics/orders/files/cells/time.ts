import { parseDateTime } from "../../../../lib/dateTime.js";
import { momentReader } from "../../../../lib/timeZone.js";

const shape =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?)? ?(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/iu;

/** Undefined for a text that is no time. @param isUtc whether a time without a zone is of UTC, whatever the store's zone is */
export type ReadTime = (text: string, isUtc: boolean) => Date | undefined;

/** Reads times as `2026-05-04 12:00:00 +0200`. A time without a zone is of the store's; a day without a time begins it. */
export function timeReader(timeZone: string): ReadTime {
  const momentOf = momentReader(timeZone);
  return (text, isUtc) => {
    const [, day, minutes = "00:00", seconds = ":00", zone] = shape.exec(text) ?? [];
    if (day === undefined) return undefined;
    const shown = `${day}T${minutes}${seconds}`;
    if (zone !== undefined) return parseDateTime(`${shown}${offsetOf(zone)}`);
    const asUtc = parseDateTime(`${shown}Z`);
    return isUtc || asUtc === undefined ? asUtc : new Date(momentOf(asUtc.getTime() / 1_000) * 1_000);
  };
}

/** As RFC 3339 writes it. */
function offsetOf(zone: string): string {
  if (!/^[+-]/u.test(zone)) return "Z";
  const [hours, minutes] = [zone.slice(0, 3), zone.slice(3).replace(":", "") || "00"];
  return `${hours}:${minutes}`;
}
