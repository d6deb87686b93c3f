import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import { AppError } from "../errors.js";
import type { BodyShare } from "./bodyBudget.js";
import { inflaterFor } from "./contentEncoding.js";

/**
 * Reads a request's body, at most `bytesMax` of it, with or without a content-length; one that is compressed is inflated
 * while it arrives, and the bytes that come out of it count.
 *
 * @param share takes what is read from the budget of all bodies
 * @throws {AppError} PAYLOAD_TOO_LARGE as soon as that is certain, BAD_REQUEST for a body that ends early or cannot be
 * inflated, UNSUPPORTED_MEDIA_TYPE for a content-encoding that is not taken, UNAVAILABLE where the budget is used up
 */
export async function readBody(request: IncomingMessage, bytesMax: number, share: BodyShare): Promise<Buffer> {
  const tooLarge = new AppError("PAYLOAD_TOO_LARGE", `The body may have at most ${bytesMax} bytes.`);
  const announced = Number(request.headers["content-length"] ?? 0); // node:http takes no more than that
  if (announced > bytesMax) throw tooLarge;
  const createInflater = inflaterFor(request);
  const collected = createInflater === undefined && announced > wholeFrom ? intoOne(announced) : inPieces();
  let bytes = 0;
  const take: Take = (chunk) => {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge;
    share.grow(bytes);
    collected.add(chunk);
  };
  try {
    await (createInflater === undefined ? takeAll(request, take) : inflateAll(request, createInflater(), take));
    return collected.body();
  } catch (error) {
    share.release(); // the answer may take a while yet
    throw error;
  }
}

/** Takes in a piece of the body. Throws where there is no room for it. */
type Take = (chunk: Buffer) => void;

function takeAll(request: IncomingMessage, take: Take): Promise<void> {
  return new Promise((resolve, reject) => {
    request.on("data", (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        request.removeAllListeners("data");
        reject(error);
      }
    });
    request.once("end", resolve);
    request.once("error", () => reject(incomplete()));
    request.once("close", () => reject(incomplete()));
  });
}

/** Whatever comes of it, nothing of the request goes into the inflater afterwards, and its memory is given back. */
function inflateAll(request: IncomingMessage, inflater: Transform, take: Take): Promise<void> {
  const inflated = new Promise<void>((resolve, reject) => {
    inflater.on("data", (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        reject(error);
      }
    });
    inflater.once("end", resolve);
    inflater.once("error", () =>
      reject(new AppError("BAD_REQUEST", "The body is not what its content-encoding says, or is not all of it.")),
    );
    request.once("error", () => reject(incomplete()));
    request.once("close", () => {
      if (!request.complete) reject(incomplete()); // else its last bytes are still being inflated
    });
    request.pipe(inflater);
  });
  return inflated.finally(() => {
    request.unpipe(inflater);
    inflater.destroy();
  });
}

/** Bodies above this many bytes are put together as they arrive, or they would be in memory twice. */
const wholeFrom = 65_536;

interface Collected {
  add(chunk: Buffer): void;
  body(): Buffer;
}

/** The memory is not touched, so not really taken, before bytes arrive: announcing many costs nothing. */
function intoOne(length: number): Collected {
  const whole = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  return {
    add: (chunk) => void (filled += chunk.copy(whole, filled)),
    body: () => whole.subarray(0, filled),
  };
}

function inPieces(): Collected {
  const chunks: Buffer[] = [];
  return {
    add: (chunk) => void chunks.push(chunk),
    body: () => (chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
  };
}

/**
 * Refuses bodies that are not JSON in UTF-8: other media types, other charsets, compression of an unknown kind.
 *
 * @throws {AppError} UNSUPPORTED_MEDIA_TYPE
 */
export function requireJson(request: IncomingMessage): void {
  const { headers } = request;
  const [mediaType, ...parameters] = (headers["content-type"] ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  if (mediaType !== "application/json" || (charset !== undefined && !/^charset="?utf-?8"?$/u.test(charset))) {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "The content-type must be application/json in UTF-8.");
  }
  inflaterFor(request);
}

function incomplete(): AppError {
  return new AppError("BAD_REQUEST", "The body ended before it was complete.");
}
