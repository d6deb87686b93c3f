import type { IncomingMessage } from "node:http";
import { AppError } from "../errors.js";

/**
 * Reads a request's body, at most `bytesMax` of it, with or without a content-length.
 *
 * @throws {AppError} PAYLOAD_TOO_LARGE as soon as that is certain, BAD_REQUEST for a body that ends early
 */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const tooLarge = new AppError("PAYLOAD_TOO_LARGE", `The body may have at most ${bytesMax} bytes.`);
  const announced = Number(request.headers["content-length"] ?? 0); // node:http takes no more than that
  if (announced > bytesMax) throw tooLarge;
  return new Promise((resolve, reject) => {
    const collected = announced > wholeFrom ? intoOne(announced) : inPieces();
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) {
        request.removeAllListeners("data");
        return reject(tooLarge);
      }
      collected.add(chunk);
    });
    request.once("end", () => resolve(collected.body()));
    request.once("error", () => reject(incomplete()));
    request.once("close", () => reject(incomplete()));
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
 * Refuses bodies that are not JSON in UTF-8 as it is: other media types, other charsets, compression.
 *
 * @throws {AppError} UNSUPPORTED_MEDIA_TYPE
 */
export function requireJson({ headers }: IncomingMessage): void {
  const [mediaType, ...parameters] = (headers["content-type"] ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  if (mediaType !== "application/json" || (charset !== undefined && !/^charset="?utf-?8"?$/u.test(charset))) {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "The content-type must be application/json in UTF-8.");
  }
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "The body must not be compressed.");
  }
}

function incomplete(): AppError {
  return new AppError("BAD_REQUEST", "The body ended before it was complete.");
}
