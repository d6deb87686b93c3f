import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tokenHeader } from "../../stores/token.js";
import { AppError } from "../../errors.js";
import type { RequestObservation } from "../telemetry/telemetry.js";

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly observation: RequestObservation;
  readonly path: string;
  /** Without its question mark. */
  readonly search: string;
}

export type Route = (exchange: Exchange) => Promise<void> | void;

export function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

interface Target {
  readonly path: string;
  /** Without its question mark. */
  readonly search: string;
}

/** Maximum of path and query string, in characters: about as many as proxies and browsers allow. */
const urlLengthMax = 8_192;

/**
 * The path without the base path, and the query. Ignores the host of a URL in absolute form (RFC 9112, section 3.2.2).
 */
export function targetOf(request: IncomingMessage, basePath = ""): Target {
  if (request.url === undefined || !(request.url.startsWith("/") || request.url === "*")) {
    const given = request.url ?? "";
    const [beforePath = given] = /^[a-z][a-z\d+.-]*:\/\/[^/?]*/iu.exec(given) ?? [];
    const afterHost = given.slice(beforePath.length);
    request.url = afterHost.startsWith("/") ? afterHost : `/${afterHost}`; // because Yoga reads it, too
  }
  if (request.url.startsWith(`${basePath}/`)) request.url = request.url.slice(basePath.length);
  const { url } = request;
  const queryStart = url.indexOf("?");
  return queryStart === -1
    ? { path: url, search: "" }
    : { path: url.slice(0, queryStart), search: url.slice(queryStart + 1) };
}

/** Why we refuse a request that node:http accepts: RFC 9112, sections 2.3, 3, 3.2 and 6.1. */
export function problemWith(request: IncomingMessage): AppError | undefined {
  const { url = "", headers, rawHeaders, httpVersionMajor, httpVersionMinor } = request;
  if (url.length > urlLengthMax) {
    return new AppError("URI_TOO_LONG", `Path and query string may have at most ${urlLengthMax} characters.`);
  }
  if (httpVersionMajor !== 1) return new AppError("BAD_REQUEST", "The request must use HTTP/1.1.");
  const hosts = countOf("host", rawHeaders);
  if (hosts > 1 || (hosts === 0 && httpVersionMinor > 0)) {
    return new AppError("BAD_REQUEST", "The request must have exactly one Host header.");
  }
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    return new AppError("BAD_REQUEST", "The only accepted transfer-encoding is chunked.");
  }
  return undefined;
}

/** Counts raw headers, because node:http silently keeps only the first of several. */
function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const raw = rawHeaders[index];
    if (raw?.length === name.length && raw.toLowerCase() === name) count += 1;
  }
  return count;
}

const acceptable = /^[\w.:-]{1,128}$/u;
const tokenLike = /vt_/iu;

/** The caller's X-Request-Id if it is safe to log and not a secret, otherwise a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  if (typeof given !== "string" || !acceptable.test(given) || tokenLike.test(given)) return randomUUID();
  const token = headers[tokenHeader]; // compared, because DEMO_TOKEN may look unlike other tokens
  return typeof token === "string" && token !== "" && given.includes(token) ? randomUUID() : given;
}

export const allowedMethods = "GET, HEAD, POST, PUT, DELETE, OPTIONS";

/** Headers that the service reads, for a preflight that names none. */
const readHeaders =
  "Content-Type, Content-Encoding, X-Service-Access-Token, X-Request-Id, If-Match, If-None-Match, Idempotency-Key";

/** A list of names (RFC 9110, section 5.6.2). */
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
 * Sets CORS headers, for any path. Any origin may be allowed, because scripts send tokens in a header, never in cookies.
 *
 * @returns true for a preflight, which this has answered
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
 * Allows all headers that the page names, such as those of tracing and of clients. Headers that we do not read have no effect, and
 * without credentials a header cannot carry anything that the page does not know.
 */
function allowedHeaders(named: string | undefined): string {
  return named !== undefined && named.length <= namesLengthMax && headerNames.test(named) ? named : readHeaders;
}

/** Prefixes of headers that reverse proxies, CDNs, load balancers and tunnels add. */
const forwarding = (
  "forwarded via max-forwards client-ip true-client-ip remote- proxy- wl-proxy- front-end-https cdn- ali-cdn- cf- cloudfront- " +
  "fastly- fly- akamai- incap- tailscale- x-forward x-original x-real x-client x-remote x-cluster x-proxy x-envoy x-varnish x-nginx " +
  "x-traefik x-haproxy x-kong x-ssl x-scheme x-url-scheme x-proto x-port x-host x-via x-rewrite x-amz x-amzn x-appengine x-azure x-arr " +
  "x-akamai x-cloud x-cf x-fd x-nf x-vercel x-sucuri x-bluecoat x-request-start x-queue-start"
).split(" ");

/** A bare proxy_pass of nginx adds no header, but uses HTTP/1.0, which no browser does. */
export function isThroughProxy({ headers, httpVersion }: IncomingMessage): boolean {
  return (
    httpVersion === "1.0" || Object.keys(headers).some((name) => forwarding.some((prefix) => name.startsWith(prefix)))
  );
}

/**
 * Checks the first request of each connection for signs of a proxy.
 *
 * @param noteSeen called once, for the first request through a proxy
 */
export function proxyWatch(noteSeen: () => void): (request: IncomingMessage) => void {
  const known = new WeakSet<object>();
  let isSeen = false;
  return (request) => {
    if (isSeen || known.has(request.socket)) return;
    known.add(request.socket);
    if (!isThroughProxy(request)) return;
    isSeen = true;
    noteSeen();
  };
}
