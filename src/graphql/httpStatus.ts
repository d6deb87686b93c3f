import type { ExecutionResult, GraphQLError } from "graphql";
import { codeOf } from "../schema/errors.js";

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
