import type { ExecutionResult, GraphQLError } from "graphql";
import { codeOf, type ErrorExtensions } from "../schema/errors.js";

/**
 * The status of a result over application/graphql-response+json where it never came to an execution: it has no data then, not
 * even null (GraphQL over HTTP, section 6.4.2). Over application/json that is a 200. Undefined for other results.
 *
 * @param result with errors that presentError() made
 */
export function requestErrorStatus({ data, errors }: ExecutionResult): 400 | 500 | undefined {
  if (data !== undefined || errors === undefined) return undefined;
  return codeOf(errors) === "INTERNAL" ? 500 : 400;
}

/** The errors of such a result with that status, as Yoga reads it from errors; those of syntax and the like have one already. */
export function withRequestErrorStatus(result: ExecutionResult): readonly GraphQLError[] {
  const { errors = [] } = result;
  const status = requestErrorStatus(result);
  if (status === undefined || errors.some(({ extensions }) => extensions.http !== undefined)) return errors;
  const http = { status, spec: true }; // `spec`: but over application/json
  for (const { extensions } of errors) Object.assign(extensions, { http });
  return errors;
}

/**
 * The status of a result whose refusals left no data: 429 with `Retry-After`, or 413 for a body that only an import may have.
 * Undefined for a result with data in at least one root field: it stays a 200.
 */
export function refusedResponse({ data, errors = [] }: ExecutionResult) {
  if (errors.length === 0 || Object.values(data ?? {}).some((value) => value !== null)) return undefined;
  const extensions = errors.map((error) => error.extensions as unknown as ErrorExtensions); // presentError made them
  if (extensions.some(({ code }) => code === "PAYLOAD_TOO_LARGE")) return { status: 413, headers: {} };
  const refused = extensions.find(({ code }) => code === "RATE_LIMITED");
  if (refused === undefined) return undefined;
  return { status: 429, headers: { "retry-after": String(refused.retryAfterSeconds) } };
}
