import type { IncomingMessage, ServerResponse } from "node:http";

export const allowedMethods = "GET, HEAD, POST, PUT, DELETE, OPTIONS";
/** Those that the service reads, for a preflight that names none. */
const readHeaders =
  "Content-Type, Content-Encoding, X-Service-Access-Token, X-Request-Id, If-Match, If-None-Match, Idempotency-Key";
/** Names as RFC 9110, 5.6.2, has them, in a list. */
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]{0,8},[ \t]{0,8}[\w!#$%&'*+.^`|~-]+)*$/u;
const namesLengthMax = 2_048;
const exposedHeaders =
  "Accept-Encoding, X-Request-Id, ETag, Allow, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed, Deprecation, Link";
/** For files that pages of any origin load. */
export const forAnyOrigin = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": exposedHeaders,
} as const;
const preflightTrustSeconds = "600";

/**
 * Sets CORS headers, for any path. Tokens are sent in a header that scripts set, never in cookies, so any origin may be
 * allowed.
 *
 * @returns true for a preflight, which is then answered
 */
export function applyCors(request: IncomingMessage, response: ServerResponse, origins: readonly string[]): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return false;
  const anyOrigin = origins.includes("*");
  if (!anyOrigin) response.setHeader("vary", "Origin");
  if (!anyOrigin && !origins.includes(origin)) return false;
  response.setHeader("access-control-allow-origin", anyOrigin ? "*" : origin);
  response.setHeader("access-control-expose-headers", exposedHeaders);
  if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) return false;
  response.writeHead(204, {
    "access-control-allow-methods": allowedMethods,
    "access-control-allow-headers": allowedHeaders(request.headers["access-control-request-headers"]),
    "access-control-max-age": preflightTrustSeconds,
  });
  response.end();
  return true;
}

/**
 * Any that the page names, such as those of tracing and of clients: what is not read has no effect, and without credentials no
 * header has a meaning that its page could not have given it anyway.
 */
function allowedHeaders(named: string | undefined): string {
  return named !== undefined && named.length <= namesLengthMax && headerNames.test(named) ? named : readHeaders;
}
