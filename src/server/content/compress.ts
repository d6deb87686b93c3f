import { promisify } from "node:util";
import type { Transform } from "node:stream";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";

export type Coding = "br" | "gzip";

/**
 * The coding that `Accept-Encoding` prefers (RFC 9110, section 12.5.3); brotli if both weigh the same. Undefined for no
 * compression, also if the client refuses everything, because an answer is better than a 406.
 */
export function preferredCoding(accepted: string | string[] | undefined): Coding | undefined {
  if (accepted === undefined || accepted.length === 0) return undefined;
  const weights = weightsOf(String(accepted));
  const others = weights.get("*") ?? 0;
  const brotliWeight = weights.get("br") ?? others;
  const gzipWeight = weights.get("gzip") ?? weights.get("x-gzip") ?? others;
  const best = Math.max(brotliWeight, gzipWeight);
  // If identity is not named, it is acceptable, but not preferred.
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
 * In bytes or characters. Compressing costs 90 µs of CPU, as much as a REST read. From 4 KB of JSON on, it saves two of
 * three packets.
 */
export const compressedLengthMin = 4_096;

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/** Quality 5 would save another fifth in twice the time. */
const brotliParameters = {
  [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  [constants.BROTLI_PARAM_QUALITY]: 4,
};
/** Takes half the time of the default 6, for a tenth more bytes. */
const gzipLevel = 4;

/** Up to this size, the best compression takes only some milliseconds. */
const smallMax = 64 * 1_024;
const best = {
  brotli: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
  gzipLevel: constants.Z_BEST_COMPRESSION,
};

/**
 * Runs on zlib's threads. Undefined if zlib fails for lack of memory: then send the body uncompressed.
 *
 * @param isKept whether the result serves many requests, so that the best compression of a small body pays
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
