import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable, Transform } from "node:stream";
import zlib, { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { parse as parseContentType } from "content-type";
import { AppError } from "../../errors.js";
import { longFromBytes } from "../../lib/json/scanJson.js";
import { endSignal, hasEnded, onResponseEnd } from "../../lib/streams/responseEnd.js";
import { yieldAfterBytes } from "../../lib/streams/eventLoop.js";
import { type ReceivedBody, scanBody } from "./bodyScan.js";
import type { ScanOptions } from "./bodyScanner.js";
import { FairShare } from "../../lib/fairShare.js";

interface ReceiveOptions {
  /** Called first, with a function that ends receiving with an error. */
  readonly onStart?: (fail: Fail) => void;
  /** Ends receiving with its reason. */
  readonly signal?: AbortSignal | undefined;
}

interface ReadOptions extends ScanOptions {
  readonly bytesMax: number;
  readonly share: BodyShare;
}

/**
 * Reads JSON of at most `bytesMax` inflated bytes; inflates it as it arrives. Long parts are not parsed, but kept until the answer
 * has been sent.
 *
 * @throws {AppError} PAYLOAD_TOO_LARGE as soon as that is certain; BAD_REQUEST if the body ends early, is invalid or cannot be
 *   inflated; UNSUPPORTED_MEDIA_TYPE for an unknown content-encoding; UNAVAILABLE if the budget has no room
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { bytesMax, share, ...options }: ReadOptions,
): Promise<ReceivedBody> {
  const tooLarge = () =>
    new AppError("PAYLOAD_TOO_LARGE", `The body may have at most ${bytesMax} bytes (MAX_BODY_BYTES).`);
  const announced = Number(request.headers["content-length"] ?? 0); // node:http refuses bodies that exceed it
  if (announced > bytesMax) throw tooLarge();
  const createInflater = inflaterFor(request);
  const isWhole = createInflater === undefined && announced >= longFromBytes;
  if (isWhole) await share.grow(announced);
  let failBody: Fail = () => undefined;
  const scan = scanBody(options, isWhole ? announced : undefined, (error) => failBody(error));
  const progress = new Progress();
  let bytes = 0;
  const take: Take = (chunk) => {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge();
    progress.add(chunk.length);
    if (bytes >= longFromBytes) progress.watch(() => share.isWanted(), failBody);
    return both(scan.add(chunk), share.grow(bytes));
  };
  try {
    const onStart = (fail: Fail): void => {
      failBody = fail;
      if (isWhole) progress.watch(() => share.isWanted(), fail);
    };
    await receive(request, take, { onStart });
    const body = await scan.end();
    if (bytes >= longFromBytes) onResponseEnd(response, () => scan.close());
    return body;
  } catch (error) {
    scan.close();
    share.release(); // now, because the answer may take seconds to end
    throw error;
  } finally {
    progress.stop();
  }
}

/** Takes a piece. If it returns a promise, the next piece waits for it. */
type Take = (chunk: Buffer) => Promise<void> | undefined;
type Fail = (error: Error) => void;

/**
 * Passes a body on piece by piece, inflated. Settles only when the last piece is taken, even if the client has left, because taking it
 * may acquire something, such as a place, that the caller must release.
 *
 * @throws {AppError} as readBody, or what `take` throws
 */
export async function receive(
  request: IncomingMessage,
  take: Take,
  { onStart = () => undefined, signal }: ReceiveOptions = {},
): Promise<void> {
  const createInflater = inflaterFor(request);
  if (request.destroyed) throw incomplete(); // the client has left, and no event would follow
  const begin = (fail: Fail): void => {
    onStart(fail);
    const end = () => request.destroyed || fail(signal?.reason as Error);
    signal?.addEventListener("abort", end, { once: true });
  };
  let taken: Promise<void> | undefined;
  const takeNoted: Take = (chunk) => (taken = take(chunk));
  try {
    await (createInflater === undefined
      ? takeAll(request, takeNoted, begin)
      : inflateAll(request, createInflater(), takeNoted, begin));
    await taken; // Node.js may report the end of the body while its last piece is still being taken
  } finally {
    await taken?.catch(() => undefined);
  }
}

/** Receives a short body as a whole. @throws {AppError} PAYLOAD_TOO_LARGE, and what `receive` throws */
export async function receiveWhole(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const tooLarge = () => new AppError("PAYLOAD_TOO_LARGE", `The body may have at most ${bytesMax} bytes.`);
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) throw tooLarge();
  const pieces: Buffer[] = [];
  let bytes = 0;
  await receive(request, (piece) => {
    bytes += piece.length;
    if (bytes > bytesMax) throw tooLarge();
    pieces.push(piece);
    return undefined;
  });
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
}

/** Removes all listeners at the end: those of a subscription's request would keep its body in memory for hours. */
function takeAll(request: IncomingMessage, take: Take, onStart: (fail: Fail) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      request.removeAllListeners("data").off("end", end).off("error", lose).off("close", lose);
    };
    const end = (): void => {
      leave();
      resolve();
    };
    const fail: Fail = (error) => {
      leave();
      reject(error);
    };
    const lose = (): void => fail(incomplete());
    takeEach(request, take, fail);
    onStart(fail);
    request.once("end", end).once("error", lose).once("close", lose);
  });
}

function takeEach(source: Readable, take: Take, fail: Fail): void {
  source.on("data", (chunk: Buffer) => {
    try {
      const waiting = take(chunk) ?? yieldAfterBytes(chunk.length);
      if (waiting === undefined) return;
      source.pause();
      waiting.then(() => source.resume(), fail);
    } catch (error) {
      fail(error as Error);
    }
  });
}

/** Unpipes the request and frees the inflater's memory, whatever the outcome. */
function inflateAll(
  request: IncomingMessage,
  inflater: Transform,
  take: Take,
  onStart: (fail: Fail) => void,
): Promise<void> {
  const inflated = new Promise<void>((resolve, reject) => {
    takeEach(inflater, take, reject);
    onStart(reject);
    inflater.once("end", resolve);
    inflater.once("error", () =>
      reject(new AppError("BAD_REQUEST", "The body does not match its content-encoding, or is incomplete.")),
    );
    request.once("error", () => reject(incomplete()));
    request.once("close", () => {
      if (!request.readableEnded) reject(incomplete()); // if it has ended, its last bytes are still being inflated
    });
    request.pipe(inflater);
  });
  return inflated.finally(() => {
    request.unpipe(inflater);
    inflater.destroy();
  });
}

function both(one: Promise<void> | undefined, other: Promise<void> | undefined): Promise<void> | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Promise.all([one, other]).then(() => undefined);
}

/**
 * @param types for the message: JSON, and types that the caller has checked itself
 * @throws {AppError} UNSUPPORTED_MEDIA_TYPE for anything but JSON in UTF-8
 */
export function requireJson(request: IncomingMessage, types = "application/json in UTF-8"): void {
  const { mediaType, isUtf8 } = contentTypeOf(request);
  if (mediaType !== "application/json" || !isUtf8) {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", `The content-type must be ${types}.`);
  }
  inflaterFor(request);
}

/** The media type in lower case. Without a charset, the text is UTF-8. */
export function contentTypeOf({ headers }: IncomingMessage): { readonly mediaType: string; readonly isUtf8: boolean } {
  const { type: mediaType, parameters } = parseContentType(headers["content-type"] ?? "");
  return { mediaType, isUtf8: /^utf-?8$/iu.test(parameters["charset"] ?? "utf-8") };
}

function incomplete(): AppError {
  return new AppError("BAD_REQUEST", "The body ended before it was complete.");
}

/** What a slow uplink sends in `progressMs`: 52 kbit/s, the minimum of a mobile network. */
const progressBytes = 64 * 1024;

const progressMs = 10_000;

const checkEveryMs = 1_000;

/** Ends a body that hardly arrives while another one waits for its place or its memory. */
export class Progress {
  #bytes = 0;
  #movedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < progressBytes) return;
    this.#bytes = 0;
    this.#movedAt = performance.now();
  }

  /** Call this as soon as the body holds a place or memory. Further calls have no effect. */
  watch(isWanted: () => boolean, fail: (error: AppError) => void): void {
    if (this.#timer !== undefined) return;
    this.#movedAt = performance.now();
    this.#timer = setInterval(() => {
      if (performance.now() - this.#movedAt < progressMs || !isWanted()) return;
      this.stop();
      fail(new AppError("REQUEST_TIMEOUT", tooSlow));
    }, checkEveryMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

const tooSlow = `The body arrived too slowly, with less than ${progressBytes / 1_024} KiB in ${progressMs / 1_000} seconds, while others waited for its place. Nothing was changed.`;

const countedFromBytes = 65_536;

const stepBytes = 1024 * 1024;

export interface BodyShare {
  /**
   * Grows the share to this many bytes.
   *
   * @returns undefined if it could grow immediately; otherwise a promise, which rejects if there is no room in time
   * @throws {AppError} UNAVAILABLE, as a rejection
   */
  grow(bytes: number): Promise<void> | undefined;
  /** Whether another body waits for what this one holds. */
  isWanted(): boolean;
  release(): void;
}

/** Bounds the memory of all request bodies together. A store gets at most half. */
export interface BodyBudget {
  /** Bytes of all bodies together. */
  readonly held: number;
  /** The share is released when the answer ends. */
  shareFor(response: ServerResponse, storeId: string): BodyShare;
}

/**
 * @param bytesMax of all bodies
 * @param waitMs how long a body waits for room before it is refused; 4.5 seconds by default
 */
export function createBodyBudget(bytesMax: number, waitMs?: number): BodyBudget {
  const room = new FairShare({
    places: bytesMax,
    ofStoreMax: Math.ceil(bytesMax / 2),
    ...(waitMs !== undefined && { waitMs }),
    message: "Too many large bodies arrive at the same time. Nothing was changed.",
  });
  return {
    get held() {
      return room.held;
    },
    shareFor: (response, storeId) => shareOf(room, response, storeId),
  };
}

function shareOf(room: FairShare, response: ServerResponse, storeId: string): BodyShare {
  let held = 0;
  let isReleased = false;
  let isRegistered = false;
  const release = (): void => {
    isReleased = true;
    if (held > 0) room.release(storeId, held);
    held = 0;
  };
  const take = async (amount: number): Promise<void> => {
    await room.take(storeId, { amount, signal: endSignal(response) });
    if (isReleased) room.release(storeId, amount);
    else held += amount;
  };
  return {
    release,
    isWanted: () => held > 0 && room.isWanted(storeId, held),
    grow(bytes) {
      if (bytes < countedFromBytes || bytes <= held || hasEnded(response)) return undefined;
      const amount = Math.min(Math.max(bytes - held, stepBytes), room.ofStoreMax - held);
      if (amount <= 0) return undefined;
      if (!isRegistered) onResponseEnd(response, release);
      isRegistered = true;
      if (!room.tryTake(storeId, amount)) return take(amount);
      held += amount;
      return undefined;
    },
  };
}

/** Undefined before Node.js 22.15. */
const { createZstdDecompress, constants } = zlib as unknown as {
  readonly createZstdDecompress?: (options: { readonly params: Readonly<Record<number, number>> }) => Transform;
  readonly constants: { readonly ZSTD_d_windowLogMax: number };
};

/** 8 MiB, the largest window that a body may require (RFC 9659). The default is 128 MiB. */
const zstdWindowLogMax = 23;

const inflaters: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip, // RFC 9110, section 8.4.1.3
  deflate: createInflate,
  br: createBrotliDecompress,
  ...(createZstdDecompress && {
    zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLogMax } }),
  }),
};

export const acceptedCodings = ["gzip", "deflate", "br", ...(createZstdDecompress ? ["zstd"] : [])].join(", ");

export class UnsupportedCodingError extends AppError {
  constructor() {
    super("UNSUPPORTED_MEDIA_TYPE", `The content-encoding must be one of ${acceptedCodings}.`);
  }
}

/** Undefined if the body is not compressed. @throws {AppError} UNSUPPORTED_MEDIA_TYPE */
export function inflaterFor({ headers }: IncomingMessage): (() => Transform) | undefined {
  const encoding = headers["content-encoding"];
  if (encoding === undefined) return undefined;
  const coding = encoding.trim().toLowerCase();
  if (coding === "identity" || coding === "") return undefined;
  if (!Object.hasOwn(inflaters, coding)) throw new UnsupportedCodingError();
  return inflaters[coding];
}
