import { promisify } from "node:util";
import type { Transform } from "node:stream";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";

export type Coding = "br" | "gzip";

/**
 * The coding by `Accept-Encoding` (RFC 9110, section 12.5.3); brotli if both weigh the same. Undefined for no
 * compression, which is also what a client gets that refuses everything: better than a 406.
 */
export function preferredCoding(accepted: string | string[] | undefined): Coding | undefined {
  if (accepted === undefined || accepted.length === 0) return undefined;
  const weights = weightsOf(String(accepted));
  const others = weights.get("*") ?? 0;
  const brotliWeight = weights.get("br") ?? others;
  const gzipWeight = weights.get("gzip") ?? weights.get("x-gzip") ?? others;
  const best = Math.max(brotliWeight, gzipWeight);
  // An unnamed identity is acceptable, but not preferred.
  if (best <= 0 || best < (weights.get("identity") ?? 0)) return undefined;
  return brotliWeight === best ? "br" : "gzip";
}

function weightsOf(accepted: string): ReadonlyMap<string, number> {
  const items = accepted.toLowerCase().split(",");
  return new Map(
    items.map((item) => {
      const [coding = "", weight = ""] = item.split(";", 2).map((part) => part.trim());
      return [coding, weight.startsWith("q=") ? Number(weight.slice(2)) || 0 : 1];
    }),
  );
}

/**
 * A length in bytes or characters. Compressing costs 90 µs of CPU, as much as a REST read. From 4 KB of JSON it saves
 * two packets of three.
 */
export const compressedLengthMin = 4_096;

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/** Quality 5 would save another fifth in twice the time. */
const brotliParameters = {
  [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  [constants.BROTLI_PARAM_QUALITY]: 4,
};
/** Half the time of the default 6, for a tenth more bytes. */
const gzipLevel = 4;

/** Up to this many bytes, the best compression takes some milliseconds. */
const smallMax = 64 * 1_024;
const best = {
  brotli: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
  gzipLevel: constants.Z_BEST_COMPRESSION,
};

/**
 * Runs on zlib's threads. Undefined if zlib fails, for lack of memory: the body is then sent uncompressed.
 *
 * @param isKept whether the result serves many requests, so that a small body is worth the best compression
 */
export function compress(body: string | Buffer, coding: Coding, isKept = false): Promise<Buffer | undefined> {
  const size = body.length; // of a string, a lower bound
  const isBest = isKept && size <= smallMax;
  const params = {
    ...brotliParameters,
    [constants.BROTLI_PARAM_SIZE_HINT]: size,
    ...(isBest && best.brotli),
  };
  const compressed =
    coding === "br" ? brotliAsync(body, { params }) : gzipAsync(body, { level: isBest ? best.gzipLevel : gzipLevel });
  return compressed.catch(() => undefined);
}

export function compressor(coding: Coding): Transform {
  return coding === "br" ? createBrotliCompress({ params: brotliParameters }) : createGzip({ level: gzipLevel });
}
