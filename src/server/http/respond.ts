import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { type Coding, compress, compressedLengthMin, preferredCoding } from "../content/compress.js";
import { hash } from "node:crypto";
import { AppError } from "../../errors.js";

type Headers = Readonly<Record<string, string>>;

const jsonMediaType = "application/json; charset=utf-8";

/** How long the rest of a refused body is received and dropped. */
const lingerMs = 5_000;

/**
 * Compresses a large answer if the client accepts this. For HEAD, node:http drops the body.
 *
 * @param headers without Vary: addVary() sets it
 */
export function respond(
  response: ServerResponse,
  status: number,
  mediaType: string,
  body: string | Buffer,
  headers: Headers = {},
): void {
  const described = { "content-type": mediaType, ...headers };
  if (body.length >= compressedLengthMin) respondLarge(response, status, body, described);
  else sendText(response, status, body, described);
}

export function respondJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  mediaType = jsonMediaType,
  headers?: Headers,
): void {
  respond(response, status, mediaType, JSON.stringify(body), headers);
}

/**
 * Answers GET and HEAD with an entity tag, or with 304. First set the headers that both answers must have, for example
 * by markPrivate() (RFC 9110, section 15.4.5).
 */
export function respondRead(response: ServerResponse, body: string): void {
  const etag = entityTag(body);
  if (!isKnown(response.req.headers["if-none-match"], etag)) {
    return respond(response, 200, jsonMediaType, body, { etag });
  }
  if (body.length >= compressedLengthMin) addVary(response, "Accept-Encoding");
  send(response, 304, { etag });
}

/** The answer depends on the token, so shared caches must not store it, and the client's cache must revalidate it. */
export function markPrivate(response: ServerResponse): void {
  response.setHeader("cache-control", "private, no-cache");
  addVary(response, "X-Service-Access-Token");
}

export function addVary(response: ServerResponse, names: string): void {
  const before = response.getHeader("vary");
  response.setHeader("vary", before === undefined ? names : `${String(before)}, ${names}`);
}

/** Sends exactly these headers. Does nothing if the client has left. */
export function send(
  response: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  body?: string | Buffer,
): void {
  if (response.destroyed) return;
  const early = isArriving(response.req);
  response.writeHead(status, early ? { connection: "close", ...headers } : headers);
  if (!early) return void response.end(body);
  response.flushHeaders(); // without a body, Node.js would send them only at the end
  if (body !== undefined) response.write(body);
  endAfterBody(response);
}

function sendText(response: ServerResponse, status: number, body: string | Buffer, headers: Headers): void {
  send(response, status, { "content-length": Buffer.byteLength(body), ...headers }, body);
}

function respondLarge(response: ServerResponse, status: number, body: string | Buffer, headers: Headers): void {
  addVary(response, "Accept-Encoding");
  const coding = preferredCoding(response.req.headers["accept-encoding"]);
  if (coding === undefined) return sendText(response, status, body, headers);
  // The length is known only after compressing; HEAD may omit it (RFC 9110, section 9.3.2).
  if (response.req.method === "HEAD") return send(response, status, { "content-encoding": coding, ...headers });
  sendCompressed(response, status, body, headers, coding).catch(() => response.destroy());
}

async function sendCompressed(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Headers,
  coding: Coding,
): Promise<void> {
  const bytes = await compress(body, coding);
  if (bytes === undefined) return sendText(response, status, body, headers);
  send(response, status, { "content-encoding": coding, "content-length": bytes.length, ...headers }, bytes);
}

function isArriving({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0);
}

/** Drops the rest of the body before closing: otherwise the connection is reset, and the client may lose the answer. */
function endAfterBody(response: ServerResponse): void {
  const { req: request } = response;
  const timer = setTimeout(end, lingerMs);
  function end(): void {
    clearTimeout(timer);
    response.end();
  }
  request.once("end", end).once("close", end).resume();
}

/** 132 bits of the digest. */
const tagCharacters = 22;

/** `W/"…"` (RFC 9110, section 8.8.3). Weak, because it serves all content codings. */
export function entityTag(body: string | Buffer): string {
  return `W/"${hash("sha256", body, "base64url").slice(0, tagCharacters)}"`;
}

const names = ["if-match", "if-none-match", "if-unmodified-since"] as const;

/** Proxies that compress append this to a tag: Apache `-gzip`, Jetty `--gzip`, and others `;gzip`. */
const codingSuffix = /(?:-{1,2}|;)(?:gzip|br|zstd|deflate)(?=")/gu;

/**
 * Whether a list of tags, or `*`, contains a tag (RFC 9110, section 13.1). We compare weakly even for `If-Match`: our tags are only weak
 * because they serve all content codings, and each identifies one state of the resource.
 *
 * @param tag made by entityTag()
 */
export function isKnown(list: string | undefined, tag: string): boolean {
  if (list === undefined) return false;
  const quoted = tag.slice("W/".length);
  // Outside of tags, the only letter in a list is W, so a match is a whole tag.
  return list === "*" || list.includes(quoted) || list.replace(codingSuffix, "").includes(quoted);
}

/** Checks the condition of a write. @param current the answer to GET; undefined if there is nothing to replace */
export type Condition = (current: string | undefined) => void;

/**
 * The condition of a write (RFC 9110, section 13.2.2), which throws PRECONDITION_FAILED. Undefined if the request has none.
 * If-Unmodified-Since never holds, because we store no dates of changes.
 */
export function conditionOf({ headers }: IncomingMessage): Condition | undefined {
  const [match, noneMatch, unmodifiedSince] = names.map((name) => headers[name]);
  if (match === undefined && noneMatch === undefined && unmodifiedSince === undefined) return undefined;
  return (current) => {
    const tag = current === undefined ? undefined : entityTag(current);
    const has = (list: string | undefined) => tag !== undefined && isKnown(list, tag);
    if (match !== undefined && !has(match)) throw failed("If-Match does not match the current ETag.");
    if (match === undefined && unmodifiedSince !== undefined) {
      throw failed("If-Unmodified-Since never holds, because no change times are kept: send the ETag in If-Match.");
    }
    if (has(noneMatch)) throw failed("If-None-Match matches the current ETag.");
  };
}

function failed(reason: string): AppError {
  return new AppError("PRECONDITION_FAILED", `${reason} Nothing was changed.`);
}

/** Refuses a condition on a path without a tag, where it would have no effect. */
export function conditionNotTaken(): AppError {
  const message =
    "If-Match, If-None-Match and If-Unmodified-Since are for PUT and DELETE of a path whose GET has an ETag; this one has none.";
  return new AppError("BAD_REQUEST", message);
}
