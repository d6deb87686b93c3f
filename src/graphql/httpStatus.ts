import type { ExecutionResult, GraphQLError } from "graphql";
import { codeOf, extensionsOf } from "../schema/errors.js";

/**
 * The status of a request error, which has no data, not even null, over application/graphql-response+json (GraphQL over
 * HTTP, section 6.4.2); over application/json it is 200.
 *
 * @param result with errors that presentError() made
 */
export function requestErrorStatus({ data, errors }: ExecutionResult): 400 | 500 | undefined {
  if (data !== undefined || errors === undefined) return undefined;
  return codeOf(errors) === "INTERNAL" ? 500 : 400;
}

/** Tells Yoga the status. Errors that have one, as syntax errors do, keep it. */
export function withRequestErrorStatus(result: ExecutionResult): readonly GraphQLError[] {
  const { errors = [] } = result;
  const status = requestErrorStatus(result);
  if (status === undefined || errors.some(({ extensions }) => extensions.http !== undefined)) return errors;
  const http = { status, spec: true }; // `spec`: not over application/json
  for (const { extensions } of errors) Object.assign(extensions, { http });
  return errors;
}

/**
 * The response to a subscription that cannot be opened now, such as while the server stops: 503 with `Retry-After`, since clients
 * do not open again what was answered with success. Undefined for any other result.
 */
export function unavailableResponse({ errors = [] }: ExecutionResult) {
  const unavailable = errors.map(extensionsOf).find(({ code }) => code === "UNAVAILABLE");
  if (unavailable === undefined) return undefined;
  return { status: 503, headers: { "retry-after": String(unavailable.retryAfterSeconds ?? 1) } };
}

/** How to authenticate: of every 401. */
export const authenticate = { "www-authenticate": 'ApiKey header="X-Service-Access-Token"' };

/**
 * The response to a result whose refusals left no data: 429 with `Retry-After`, 413 for a body that only an import may
 * have, 403 where the token allows none of the fields, or 401 where it has ended meanwhile. Undefined for a result with data in at least one root field,
 * which stays a 200.
 */
export function refusedResponse({ data, errors = [] }: ExecutionResult) {
  if (errors.length === 0 || Object.values(data ?? {}).some((value) => value !== null)) return undefined;
  const extensions = errors.map(extensionsOf);
  if (extensions.some(({ code }) => code === "PAYLOAD_TOO_LARGE")) return { status: 413, headers: {} };
  if (extensions.every(({ code }) => code === "FORBIDDEN")) return { status: 403, headers: {} };
  if (extensions.every(({ code }) => code === "UNAUTHENTICATED")) return { status: 401, headers: authenticate };
  const refused = extensions.find(({ code }) => code === "RATE_LIMITED");
  if (refused === undefined) return undefined;
  return { status: 429, headers: { "retry-after": String(refused.retryAfterSeconds) } };
}
