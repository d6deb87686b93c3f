import * as z from "zod";
import type { Problem, Problems } from "../../errors.js";
import { parseDateTime } from "../dateTime.js";
import { mustBe } from "../mustBe.js";
import { clip } from "../text.js";

type Issue = z.core.$ZodIssue;

/** A number. Not zod's own, which refuses Infinity: JSON has it as 1e999, and rules refuse it as out of range. */
export function numberSchema(message: string) {
  return z.custom<number>((value) => typeof value === "number", message);
}

/** A timestamp, read as a Date. */
export function dateTimeSchema(message: string) {
  return z.preprocess(
    (value) => (typeof value === "string" ? (parseDateTime(value) ?? value) : value),
    z.date(message),
  );
}

/** One of a few texts. */
export function oneOf<const Value extends string>(values: readonly Value[]) {
  return z.enum(values, `${values.slice(0, -1).join(", ")} or ${values.at(-1) ?? ""}`);
}

/**
 * Reports what a schema refuses whose messages are what values must be. Needs the option `reportInput`.
 *
 * @param kind what has no other fields: `An event`
 * @param place of the object
 */
export function addIssues(
  { issues }: z.ZodError,
  kind: string,
  problems: Problems,
  place: Pick<Problem, "path" | "line">,
): void {
  for (const issue of issues.toSorted(unknownFirst)) addIssue(issue, kind, problems, place);
}

function unknownFirst(one: Issue, other: Issue): number {
  return Number(other.code === "unrecognized_keys") - Number(one.code === "unrecognized_keys");
}

function addIssue(issue: Issue, kind: string, problems: Problems, place: Pick<Problem, "path" | "line">): void {
  const steps = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    for (const key of issue.keys) {
      const message = `${kind} has no field ${JSON.stringify(clip([...steps, key].join(".")))}.`;
      problems.add({ ...place, code: "UNKNOWN_FIELD", message, path: [...place.path, ...steps, clip(key)] });
    }
    return;
  }
  const name = steps.join(".");
  const path = [...place.path, ...steps];
  if (issue.input !== null && issue.input !== undefined)
    problems.add({ ...place, code: "INVALID_TYPE", message: mustBe(name, issue.message, issue.input), path });
  else problems.add({ ...place, code: "REQUIRED", message: `${name} is required.`, path });
}
