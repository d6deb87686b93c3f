import { Problems } from "../errors.js";
import { mustBe } from "./mustBe.js";

/** Either end may be missing. `from` is part of the range, `until` is not. */
export interface OpenRange {
  readonly from?: Date | null | undefined;
  readonly until?: Date | null | undefined;
}

const yearsMax = 5;

/** @throws {AppError} VALIDATION_FAILED if both ends are given and the end is before the start, or more than 5 years after it */
export function checkOpenRange(from: Date | null | undefined, until: Date | null | undefined): OpenRange {
  const problems = new Problems();
  if (from && until) checkEnds(from, until, problems);
  problems.throwIfAny();
  return { from, until };
}

/** Adds a problem for an end before the start, or more than 5 years after it. */
export function checkEnds(from: Date, until: Date, problems: Problems): void {
  const refuse = (message: string) => problems.add({ code: "VALIDATION_FAILED", message, path: ["until"] });
  const latest = new Date(from);
  latest.setUTCFullYear(from.getUTCFullYear() + yearsMax);
  if (until < from) refuse(mustBe("until", "at or after from", until));
  if (until > latest) refuse(mustBe("until", `at most ${yearsMax} years after from`, until));
}
