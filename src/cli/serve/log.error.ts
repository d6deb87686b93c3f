import { sqlStateOf } from "../../database/errors.js";
import { clip } from "../../lib/text.js";
import { reasonOf } from "../terminal/reason.js";

const messageMax = 500;

/**
 * What the log says of an error. Nothing else of it: errors of Prisma and of PostgreSQL hold parameters of the query and
 * whole rows, and the message at the head of a stack may be long.
 */
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

/** PostgreSQL repeats in its message a value that it cannot read: class 22, data exceptions. */
function hasValue(sqlState: string | undefined): boolean {
  return sqlState?.startsWith("22") === true;
}
