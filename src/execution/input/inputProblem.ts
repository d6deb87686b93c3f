import type { Path, Problem, Problems } from "../../errors.js";
import { mustBe } from "../../lib/mustBe.js";
import { clip } from "../../lib/text.js";

/** Linked backwards: an array is made only for problems that are listed. */
export interface Place {
  readonly step: string | number;
  readonly parent: Place | undefined;
}

export interface CheckOptions {
  /** GraphQL would accept a single value for a list of one. */
  readonly arraysOnly: boolean;
  /** Collects all problems; without it, the check ends at the first. */
  readonly problems: Problems | undefined;
}

/** @returns false, for the caller to return */
export function report(
  options: CheckOptions,
  place: Place | undefined,
  code: Problem["code"],
  message: (name: string) => string,
): false {
  options.problems?.addLazily(() => {
    const path = pathOf(place);
    return { code, message: message(nameOf(path)), path };
  });
  return false;
}

/** A closure over the value, where the value is checked, would be allocated for values that are right too. */
export function reportType(options: CheckOptions, place: Place | undefined, rule: string, value: unknown): false {
  return report(options, place, "INVALID_TYPE", (name) => mustBe(name, rule, value));
}

/** @param place of the object that has the field */
export function reportUnknownField(options: CheckOptions, place: Place | undefined, name: string): false {
  options.problems?.addLazily(() => unknownField(name, [...pathOf(place), clip(name)]));
  return false;
}

function pathOf(place: Place | undefined): Path {
  const steps: (string | number)[] = [];
  for (let at = place; at !== undefined; at = at.parent) steps.push(at.step);
  return steps.toReversed();
}

export function unknownField(name: string, path: Path): Problem {
  return { code: "UNKNOWN_FIELD", message: `Unknown field ${JSON.stringify(clip(name))}.`, path };
}

/** `["product", "images", 0]` is called `images[0]`. */
function nameOf(path: Path): string {
  const lastName = path.findLastIndex((step) => typeof step === "string");
  return path
    .slice(lastName)
    .map((step) => (typeof step === "number" ? `[${step}]` : step))
    .join("");
}
