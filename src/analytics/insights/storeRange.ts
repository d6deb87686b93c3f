import { Problems } from "../../errors.js";
import { mustBe } from "../../lib/mustBe.js";
import { isTimeZone } from "../../lib/timeZone.js";

/** `from` is part of the range, `until` is not. */
export interface StoreRange {
  readonly from: Date;
  readonly until: Date;
  readonly timeZone: string;
}

/** May be open at its ends. */
export interface OpenRange {
  readonly from?: Date | null | undefined;
  readonly until?: Date | null | undefined;
}

const yearsMax = 5;
/** Earlier years could not be written in ISO 8601. */
const dateTimeMin = new Date("0001-01-01T00:00:00Z");

/** @throws {AppError} VALIDATION_FAILED for an end before the start, more than 5 years, or an unknown time zone */
export function checkRange(from: Date, until: Date, timeZone: string | null | undefined): StoreRange {
  const problems = new Problems();
  checkEnds(from, until, problems);
  const zone = timeZone ?? "UTC";
  if (!isTimeZone(zone)) {
    const message = mustBe("timeZone", "an IANA time zone, such as Europe/Berlin", zone);
    problems.add({ code: "VALIDATION_FAILED", message, path: ["timeZone"] });
  }
  problems.throwIfAny();
  return { from, until, timeZone: zone };
}

/** @throws {AppError} VALIDATION_FAILED where both ends are given, for an end before the start or more than 5 years */
export function checkOpenRange(from: Date | null | undefined, until: Date | null | undefined): OpenRange {
  const problems = new Problems();
  if (from && until) checkEnds(from, until, problems);
  problems.throwIfAny();
  return { from, until };
}

function checkEnds(from: Date, until: Date, problems: Problems): void {
  const refuse = (message: string) => problems.add({ code: "VALIDATION_FAILED", message, path: ["until"] });
  const latest = new Date(from);
  latest.setUTCFullYear(from.getUTCFullYear() + yearsMax);
  if (until < from) refuse(mustBe("until", "at or after from", until));
  if (until > latest) refuse(mustBe("until", `at most ${yearsMax} years after from`, until));
}

/** The period of equal length immediately before. */
export function rangeBefore({ from, until, timeZone }: StoreRange): StoreRange {
  const start = from.getTime() - (until.getTime() - from.getTime());
  return { from: new Date(Math.max(start, dateTimeMin.getTime())), until: from, timeZone };
}
