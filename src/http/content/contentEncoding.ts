import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import zlib, { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { AppError } from "../../errors.js";

/** Present from Node.js 22.15 on. */
const { createZstdDecompress } = zlib as { readonly createZstdDecompress?: () => Transform };

const inflaters: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip, // RFC 9110, section 8.4.1.3
  deflate: createInflate,
  br: createBrotliDecompress,
  ...(createZstdDecompress && { zstd: createZstdDecompress }),
};

export const acceptedCodings = ["gzip", "deflate", "br", ...(createZstdDecompress ? ["zstd"] : [])].join(", ");

export class UnsupportedCodingError extends AppError {
  constructor() {
    super("UNSUPPORTED_MEDIA_TYPE", `The content-encoding must be one of ${acceptedCodings}.`);
  }
}

/** Undefined for a body that is not compressed. @throws {AppError} UNSUPPORTED_MEDIA_TYPE */
export function inflaterFor({ headers }: IncomingMessage): (() => Transform) | undefined {
  const encoding = headers["content-encoding"];
  if (encoding === undefined) return undefined;
  const coding = encoding.trim().toLowerCase();
  if (coding === "identity" || coding === "") return undefined;
  if (!Object.hasOwn(inflaters, coding)) throw new UnsupportedCodingError();
  return inflaters[coding];
}
