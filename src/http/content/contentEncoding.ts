import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { AppError } from "../../errors.js";

const inflaters: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip, // RFC 9110, section 8.4.1.3
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** What a body may be compressed with, as Accept-Encoding names it. */
export const acceptedCodings = "gzip, deflate, br";

/** A body that is compressed in a way not taken, or in more than one. */
export class UnsupportedCodingError extends AppError {
  constructor() {
    super("UNSUPPORTED_MEDIA_TYPE", `The content-encoding must be one of ${acceptedCodings}.`);
  }
}

/**
 * What makes an inflater for the body of a request; undefined where the body is as it is.
 *
 * @throws {AppError} UNSUPPORTED_MEDIA_TYPE
 */
export function inflaterFor({ headers }: IncomingMessage): (() => Transform) | undefined {
  const encoding = headers["content-encoding"];
  if (encoding === undefined) return undefined;
  const coding = encoding.trim().toLowerCase();
  if (coding === "identity" || coding === "") return undefined;
  if (!Object.hasOwn(inflaters, coding)) throw new UnsupportedCodingError();
  return inflaters[coding];
}
