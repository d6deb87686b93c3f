import type { IncomingMessage, ServerResponse } from "node:http";

export const allowedMethods = "GET, HEAD, POST, PUT, DELETE, OPTIONS";
const allowedHeaders =
  "Content-Type, Content-Encoding, X-Service-Access-Token, X-Request-Id, If-None-Match, Idempotency-Key";
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
    "access-control-allow-headers": allowedHeaders,
    "access-control-max-age": preflightTrustSeconds,
  });
  response.end();
  return true;
}
