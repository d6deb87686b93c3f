import { InvalidArgumentError } from "commander";
import * as z from "zod";
import { dateTimeName, parseDateTime } from "../../lib/dateTime.js";

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `15m`, `24h` or `7d` in milliseconds; `0` is 0. */
export function parseDuration(text: string): number {
  const [, amount, unit = ""] = /^(\d{1,6})([smhd])$/u.exec(text) ?? [];
  const unitMs = unitsMs[unit];
  if (text === "0") return 0;
  if (amount === undefined || unitMs === undefined)
    throw new InvalidArgumentError("Give a duration like 90s, 15m, 24h or 7d.");
  return Number(amount) * unitMs;
}

/** Without a time zone: days begin in UTC, and other times are local. */
const withoutZone = z.union([z.iso.date(), z.iso.datetime({ local: true })]);

/** @throws {InvalidArgumentError} for what is no ISO 8601 time in the future */
export function parseFuture(text: string): Date {
  const moment = parseMoment(text);
  if (moment.getTime() <= Date.now()) throw new InvalidArgumentError("The time lies in the past.");
  return moment;
}

/** @throws {InvalidArgumentError} for what is no ISO 8601 time up to now */
export function parsePast(text: string): Date {
  const moment = parseMoment(text);
  if (moment.getTime() > Date.now()) throw new InvalidArgumentError("The time lies in the future.");
  return moment;
}

function parseMoment(text: string): Date {
  const moment = withoutZone.safeParse(text).success ? new Date(text) : parseDateTime(text);
  if (moment !== undefined) return moment;
  throw new InvalidArgumentError("Give an ISO 8601 time like 2030-01-31T00:00:00Z.");
}

/** A time as the API takes it. @throws {InvalidArgumentError} for what is no ISO 8601 timestamp with a time zone */
export function parseTime(text: string): Date {
  const time = parseDateTime(text);
  if (time === undefined) throw new InvalidArgumentError(`Must be ${dateTimeName}.`);
  return time;
}
