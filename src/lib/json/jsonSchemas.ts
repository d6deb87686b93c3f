import * as z from "zod";
import { parseDateTime } from "../dateTime.js";

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
