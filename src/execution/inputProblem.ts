import type { Path, Problem, Problems } from "../errors.js";
import { clip } from "../lib/text.js";

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

export function pathOf(place: Place | undefined): Path {
  const steps: (string | number)[] = [];
  for (let at = place; at !== undefined; at = at.parent) steps.push(at.step);
  return steps.toReversed();
}

export function unknownField(name: string, path: Path): Problem {
  return { code: "UNKNOWN_FIELD", message: `There is no field ${JSON.stringify(clip(name))} here.`, path };
}

/** `["product", "images", 0]` is called `images[0]`. */
function nameOf(path: Path): string {
  const lastName = path.findLastIndex((step) => typeof step === "string");
  return path
    .slice(lastName)
    .map((step) => (typeof step === "number" ? `[${step}]` : step))
    .join("");
}
