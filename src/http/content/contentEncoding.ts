import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import zlib, { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { AppError } from "../../errors.js";

/** Present from Node.js 22.15 on. */
const { createZstdDecompress, constants } = zlib as unknown as {
  readonly createZstdDecompress?: (options: { readonly params: Readonly<Record<number, number>> }) => Transform;
  readonly constants: { readonly ZSTD_d_windowLogMax: number };
};

/** 8 MiB, the most that a body may need to be decompressed (RFC 9659); 128 MiB by default. */
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

/** Undefined for a body that is not compressed. @throws {AppError} UNSUPPORTED_MEDIA_TYPE */
export function inflaterFor({ headers }: IncomingMessage): (() => Transform) | undefined {
  const encoding = headers["content-encoding"];
  if (encoding === undefined) return undefined;
  const coding = encoding.trim().toLowerCase();
  if (coding === "identity" || coding === "") return undefined;
  if (!Object.hasOwn(inflaters, coding)) throw new UnsupportedCodingError();
  return inflaters[coding];
}
