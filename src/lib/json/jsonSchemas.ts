import * as z from "zod";
import type { Problem, Problems } from "../../errors.js";
import { parseDateTime } from "../dateTime.js";
import { mustBe } from "../mustBe.js";
import { clip } from "../text.js";

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
  for (const { path: steps, ...issue } of issues.toSorted(unknownFirst)) {
    const add = (code: Problem["code"], message: string, ...names: readonly string[]) =>
      problems.add({ ...place, code, message, path: [...place.path, ...steps.map(String), ...names] });
    const name = steps.join(".");
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) {
        const shown = JSON.stringify(clip([...steps, key].join(".")));
        add("UNKNOWN_FIELD", `${kind} has no field ${shown}.`, clip(key));
      }
    } else if (issue.input === null || issue.input === undefined) add("REQUIRED", `${name} is required.`);
    else add("INVALID_TYPE", mustBe(name, issue.message, issue.input));
  }
}

function unknownFirst(one: z.core.$ZodIssue, other: z.core.$ZodIssue): number {
  return Number(other.code === "unrecognized_keys") - Number(one.code === "unrecognized_keys");
}
