import type { IncomingMessage } from "node:http";
import type { Readable, Transform } from "node:stream";
import { AppError } from "../../errors.js";
import { type JsonScanner, longFromBytes } from "../../lib/json/scan.js";
import { nextTurnAfter } from "../../lib/streams/turn.js";
import type { BodyShare } from "./bodyBudget.js";
import { inflaterFor } from "./contentEncoding.js";

interface ReadOptions {
  readonly bytesMax: number;
  readonly share: BodyShare;
  /** Gets the bytes as they arrive; may throw to refuse them. */
  readonly scanner: JsonScanner;
}

/**
 * Reads at most `bytesMax`, counted after inflating, which is done as bytes arrive. A large body is in memory that
 * threads can share.
 *
 * @throws {AppError} PAYLOAD_TOO_LARGE as soon as that is certain, BAD_REQUEST for a body that ends early or cannot be
 * inflated, UNSUPPORTED_MEDIA_TYPE for an unknown content-encoding, UNAVAILABLE if the budget has no room
 */
export async function readBody(request: IncomingMessage, { bytesMax, share, scanner }: ReadOptions): Promise<Buffer> {
  const tooLarge = () =>
    new AppError("PAYLOAD_TOO_LARGE", `The body may have at most ${bytesMax} bytes (MAX_BODY_BYTES).`);
  const announced = Number(request.headers["content-length"] ?? 0); // node:http refuses bodies that exceed it
  if (announced > bytesMax) throw tooLarge();
  const createInflater = inflaterFor(request);
  const isWhole = createInflater === undefined && announced >= longFromBytes;
  if (isWhole) await share.grow(announced);
  if (request.destroyed) throw incomplete(); // it left while waiting
  const collected = isWhole ? intoOne(announced) : inPieces();
  let bytes = 0;
  const take: Take = (chunk) => {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge();
    scanner.push(chunk);
    collected.add(chunk);
    return share.grow(bytes);
  };
  try {
    await receive(request, take);
    return collected.body();
  } catch (error) {
    share.release(); // before the answer ends, which may take seconds
    throw error;
  }
}

/** If it returns a promise, the next piece waits for it. */
type Take = (chunk: Buffer) => Promise<void> | undefined;

/** Piece by piece, inflated. @throws {AppError} as readBody, or what `take` throws */
export function receive(request: IncomingMessage, take: Take): Promise<void> {
  const createInflater = inflaterFor(request);
  return createInflater === undefined ? takeAll(request, take) : inflateAll(request, createInflater(), take);
}

function takeAll(request: IncomingMessage, take: Take): Promise<void> {
  return new Promise((resolve, reject) => {
    takeEach(request, take, (error) => {
      request.removeAllListeners("data");
      reject(error);
    });
    request.once("end", resolve);
    request.once("error", () => reject(incomplete()));
    request.once("close", () => {
      if (!request.readableEnded) reject(incomplete());
    });
  });
}

function takeEach(source: Readable, take: Take, fail: (error: Error) => void): void {
  source.on("data", (chunk: Buffer) => {
    try {
      const waiting = take(chunk) ?? nextTurnAfter(chunk.length);
      if (waiting === undefined) return;
      source.pause();
      waiting.then(() => source.resume(), fail);
    } catch (error) {
      fail(error as Error);
    }
  });
}

/** Unpipes the request and frees the inflater's memory, whatever the outcome. */
function inflateAll(request: IncomingMessage, inflater: Transform, take: Take): Promise<void> {
  const inflated = new Promise<void>((resolve, reject) => {
    takeEach(inflater, take, reject);
    inflater.once("end", resolve);
    inflater.once("error", () =>
      reject(new AppError("BAD_REQUEST", "The body does not match its content-encoding, or is incomplete.")),
    );
    request.once("error", () => reject(incomplete()));
    request.once("close", () => {
      if (!request.complete) reject(incomplete()); // otherwise its last bytes are still being inflated
    });
    request.pipe(inflater);
  });
  return inflated.finally(() => {
    request.unpipe(inflater);
    inflater.destroy();
  });
}

interface Collected {
  add(chunk: Buffer): void;
  body(): Buffer;
}

/** Memory is committed only as bytes arrive, so announcing many costs nothing. */
function intoOne(length: number): Collected {
  const whole = shared(length);
  let filled = 0;
  return {
    add: (chunk) => void (filled += chunk.copy(whole, filled)),
    body: () => whole.subarray(0, filled),
  };
}

function inPieces(): Collected {
  const chunks: Buffer[] = [];
  let length = 0;
  return {
    add(chunk) {
      chunks.push(chunk);
      length += chunk.length;
    },
    body() {
      if (chunks.length === 1 && chunks[0] !== undefined && length < longFromBytes) return chunks[0];
      if (length < longFromBytes) return Buffer.concat(chunks);
      const whole = intoOne(length);
      for (const chunk of chunks.splice(0)) whole.add(chunk);
      return whole.body();
    },
  };
}

function shared(length: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(length));
}

/** @throws {AppError} UNSUPPORTED_MEDIA_TYPE for anything but JSON in UTF-8 */
export function requireJson(request: IncomingMessage): void {
  const { mediaType, isUtf8 } = contentTypeOf(request);
  if (mediaType !== "application/json" || !isUtf8) {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "The content-type must be application/json in UTF-8.");
  }
  inflaterFor(request);
}

/** The media type is in lower case; without a charset, the text is UTF-8. */
export function contentTypeOf({ headers }: IncomingMessage): { readonly mediaType: string; readonly isUtf8: boolean } {
  const [mediaType = "", ...parameters] = (headers["content-type"] ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  return { mediaType, isUtf8: charset === undefined || /^charset="?utf-?8"?$/u.test(charset) };
}

export function incomplete(): AppError {
  return new AppError("BAD_REQUEST", "The body ended before it was complete.");
}
