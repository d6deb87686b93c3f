import { sqlStateOf } from "../../database/errors.js";
import { clip } from "../../lib/text.js";
import { reasonOf } from "../terminal/reason.js";

const messageMax = 500;

/** The loggable part of an error. Errors of Prisma and PostgreSQL also hold query parameters and whole rows. */
export function loggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? clip(error, messageMax) : typeof error;
  const { name, stack = "" } = error;
  const sqlState = sqlStateOf(error);
  return {
    type: error.constructor.name || name,
    message: hasValue(sqlState) ? "The database refused a value." : clip(reasonOf(error), messageMax),
    ...("code" in error && typeof error.code === "string" && { code: error.code }),
    sqlState,
    stack: stack
      .split("\n")
      .filter((line) => /^ +at /u.test(line))
      .join("\n"),
  };
}

/** Messages of class 22, data exceptions, repeat the value. */
function hasValue(sqlState: string | undefined): boolean {
  return sqlState?.startsWith("22") === true;
}
