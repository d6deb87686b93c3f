import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { type Coding, compress, compressedLengthMin, preferredCoding } from "./content/compress.js";
import { entityTag, isKnown } from "./content/entityTag.js";

type Headers = Readonly<Record<string, string>>;

const jsonMediaType = "application/json; charset=utf-8";

/** How long the rest of a body that nobody wants is taken in. */
const lingerMs = 5_000;

/**
 * Writes a whole answer at once, with its length; a large one once it is compressed, if the client takes that. A HEAD
 * request gets the headers alone; node:http sees to that.
 *
 * @param headers without Vary, which is for addVary()
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
 * Answers a GET or HEAD that succeeded: with the JSON and its tag, or with 304 for a caller that has it already. The
 * headers that a 304 must share with the 200 (RFC 9110, section 15.4.5) have been set before, such as by markPrivate().
 */
export function respondRead(response: ServerResponse, body: string): void {
  const etag = entityTag(body);
  if (!isKnown(response.req.headers["if-none-match"], etag)) {
    return respond(response, 200, jsonMediaType, body, { etag });
  }
  if (body.length >= compressedLengthMin) addVary(response, "Accept-Encoding");
  send(response, 304, { etag });
}

/** The answer to this read belongs to whom the token names: caches of others must not keep it, the caller's asks again. */
export function markPrivate(response: ServerResponse): void {
  response.setHeader("cache-control", "private, no-cache");
  addVary(response, "X-Service-Access-Token");
}

/** Adds request headers that the answer depends on to its Vary, which may name others already. */
export function addVary(response: ServerResponse, names: string): void {
  const before = response.getHeader("vary");
  response.setHeader("vary", before === undefined ? names : `${String(before)}, ${names}`);
}

/** Writes an answer as it is given, a length in its headers included. Does nothing when the client is gone. */
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
  response.flushHeaders(); // what has no body would else wait for the end
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
  // Its length would have to be found by compressing; RFC 9110, section 9.3.2, lets HEAD leave it out.
  if (response.req.method === "HEAD") return send(response, status, { "content-encoding": coding, ...headers });
  // Nobody waits for this: were it to fail, the process would.
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

/** Closing a connection on which a body still arrives resets it, and the client may lose the answer: drop the rest first. */
function endAfterBody(response: ServerResponse): void {
  const { req: request } = response;
  const timer = setTimeout(end, lingerMs);
  function end(): void {
    clearTimeout(timer);
    response.end();
  }
  request.once("end", end).once("close", end).resume();
}
