import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tokenHeader } from "../access/identity.js";
import { AppError } from "../errors.js";
import type { RequestObservation } from "../telemetry/requestObservation.js";

/** A request on its way through the router. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly observation: RequestObservation;
  readonly path: string;
  /** The query string, without its question mark. */
  readonly search: string;
}

export type Route = (exchange: Exchange) => Promise<void> | void;

export function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

/**
 * Calls back once an answer is complete, or cannot be sent any more because its client has left. An answer that waits for
 * earlier ones of its connection emits no `close` of its own then.
 */
export function onceOver(response: ServerResponse, callback: () => void): void {
  const { socket } = response.req;
  const end = () => {
    response.off("close", end);
    socket.off("close", end);
    callback();
  };
  if (isOver(response)) return callback();
  response.once("close", end);
  socket.once("close", end);
}

/** Whether an answer is complete, or its client has left. */
export function isOver(response: ServerResponse): boolean {
  return response.closed || response.req.socket.destroyed;
}

/** What a request is for. */
interface Target {
  readonly path: string;
  /** The query string, without its question mark. */
  readonly search: string;
}

/** Of path and query string together, in characters. Proxies and browsers agree on about as much. */
const urlLengthMax = 8_192;

/**
 * The path and query of a request. A URL in absolute form, as it is sent to proxies (RFC 9112, section 3.2.2), is taken
 * for its path: which host it names plays no part.
 */
export function targetOf(request: IncomingMessage): Target {
  if (request.url === undefined || !(request.url.startsWith("/") || request.url === "*")) {
    const [, afterHost = ""] = /^[a-z][a-z\d+.-]*:\/\/[^/?]*(.*)$/iu.exec(request.url ?? "") ?? [];
    request.url = afterHost.startsWith("/") ? afterHost : `/${afterHost}`; // Yoga reads it too
  }
  const { url } = request;
  const queryStart = url.indexOf("?");
  return queryStart === -1
    ? { path: url, search: "" }
    : { path: url.slice(0, queryStart), search: url.slice(queryStart + 1) };
}

/** What keeps a request from being looked at, though node:http could read it: RFC 9112, sections 2.3, 3, 3.2 and 6.1. */
export function problemWith(request: IncomingMessage): AppError | undefined {
  const { url = "", headers, rawHeaders, httpVersionMajor, httpVersionMinor } = request;
  if (url.length > urlLengthMax) {
    return new AppError("URI_TOO_LONG", `Path and query string may have at most ${urlLengthMax} characters.`);
  }
  if (httpVersionMajor !== 1) return new AppError("BAD_REQUEST", "The request must be one of HTTP/1.1.");
  const hosts = countOf("host", rawHeaders);
  if (hosts > 1 || (hosts === 0 && httpVersionMinor > 0)) {
    return new AppError("BAD_REQUEST", "The request must have one header Host.");
  }
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    return new AppError("BAD_REQUEST", "The only transfer-encoding taken is chunked.");
  }
  return undefined;
}

/** node:http keeps the first of several and tells nobody. */
function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const raw = rawHeaders[index];
    if (raw?.length === name.length && raw.toLowerCase() === name) count += 1;
  }
  return count;
}

const acceptable = /^[\w.:-]{1,128}$/u;
/** What issued tokens begin with. */
const tokenLike = /vt_/iu;

/** The id that the caller gave its request in X-Request-Id, if it is harmless and no secret, or else a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  if (typeof given !== "string" || !acceptable.test(given) || tokenLike.test(given)) return randomUUID();
  const token = headers[tokenHeader]; // an operator may have chosen one of another form
  return typeof token === "string" && token !== "" && given.includes(token) ? randomUUID() : given;
}
