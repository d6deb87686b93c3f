import type { ErrorCode, Problem } from "../errors.js";
import type { ErrorExtensions } from "../schema/errors.js";
import { problemTypes } from "./status.js";

/** An error as REST answers it: RFC 9457, with the code and every problem. */
export interface ProblemDetails {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly errors: readonly Problem[];
  /** How many problems there are; `errors` lists the first 100. */
  readonly errorsTotal: number;
  /** With INTERNAL only: what to name when reporting it. */
  readonly requestId?: string;
}

export const problemMediaType = "application/problem+json";

/** The type is a name, not an address: nothing needs to be fetched to know what happened. */
export function problemDetails(
  message: string,
  { code, errors, errorsTotal, requestId }: ErrorExtensions,
): ProblemDetails {
  const { status, title } = problemTypes[code];
  return {
    type: `urn:vitrine:problem:${code.toLowerCase().replaceAll("_", "-")}`,
    title,
    status,
    detail: message,
    code,
    errors,
    errorsTotal,
    ...(requestId !== undefined && { requestId }),
  };
}
