import { Problems } from "../../errors.js";
import { checkEnds } from "../../lib/dateRange.js";
import { mustBe } from "../../lib/mustBe.js";
import { aTimeZone, daysBefore, timeZoneNamed } from "../../lib/timeZone.js";

/** `from` is part of the range, `until` is not. */
export interface StoreRange {
  readonly from: Date;
  readonly until: Date;
  readonly timeZone: string;
}

const dayMs = 86_400_000;
/** Earlier years could not be written in ISO 8601. */
const dateTimeMin = new Date("0001-01-01T00:00:00Z");

/** @throws {AppError} VALIDATION_FAILED for an end before the start, more than 5 years, or an unknown time zone */
export function checkRange(from: Date, until: Date, timeZone: string): StoreRange {
  const problems = new Problems();
  checkEnds(from, until, problems);
  const zone = timeZoneNamed(timeZone);
  if (zone === undefined) {
    const message = mustBe("timeZone", aTimeZone, timeZone);
    problems.add({ code: "VALIDATION_FAILED", message, path: ["timeZone"] });
  }
  problems.throwIfAny();
  return { from, until, timeZone: zone ?? "UTC" }; // an unknown one was refused
}

/**
 * The range moved back by its length in whole days of its time zone, and from a week on in whole weeks, so that equal times of day and
 * equal weekdays are compared.
 */
export function rangeBefore({ from, until, timeZone }: StoreRange): StoreRange {
  const length = daysWithin(from, until, timeZone);
  const days = length < 7 ? length : Math.ceil(length / 7) * 7;
  const moved = (moment: Date) =>
    new Date(Math.max(daysBefore(timeZone, moment, days).getTime(), dateTimeMin.getTime()));
  return { from: moved(from), until: moved(until), timeZone };
}

/** A day that has begun counts as a whole one. */
function daysWithin(from: Date, until: Date, timeZone: string): number {
  let days = Math.floor((until.getTime() - from.getTime()) / dayMs);
  while (days > 0 && daysBefore(timeZone, until, days) < from) days -= 1; // days of 23 hours, or of 25
  while (daysBefore(timeZone, until, days) > from) days += 1;
  return days;
}
