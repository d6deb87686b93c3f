import * as z from "zod";
import { parseDateTime } from "../dateTime.js";

/** A number. Zod's own refuses Infinity, which JSON has as 1e999 and which rules refuse as out of range. */
export function numberSchema(message: string) {
  return z.custom<number>((value) => typeof value === "number", message);
}

/** A timestamp, which it reads as a Date. */
export function dateTimeSchema(message: string) {
  return z.preprocess(
    (value) => (typeof value === "string" ? (parseDateTime(value) ?? value) : value),
    z.date(message),
  );
}
