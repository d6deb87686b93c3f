/** The content codings that answers are compressed with. */
export type Coding = "br" | "gzip";

/**
 * The coding that a client wants its answer in, by its `Accept-Encoding` (RFC 9110, section 12.5.3), or undefined for
 * the answer as it is. Brotli where both are as welcome. The answer as it is goes out too when a client refuses
 * everything: that serves it better than a 406.
 */
export function preferredCoding(accepted: string | string[] | undefined): Coding | undefined {
  if (accepted === undefined || accepted.length === 0) return undefined;
  const weights = new Map<string, number>();
  for (const item of String(accepted).toLowerCase().split(",")) {
    const [coding = "", weight = ""] = item.split(";", 2).map((part) => part.trim());
    weights.set(coding, weight.startsWith("q=") ? Number(weight.slice(2)) || 0 : 1);
  }
  const others = weights.get("*") ?? 0;
  const brotli = weights.get("br") ?? others;
  const gzip = weights.get("gzip") ?? weights.get("x-gzip") ?? others;
  const best = Math.max(brotli, gzip);
  // An identity that is not named is acceptable, but nobody's wish.
  if (best <= 0 || best < (weights.get("identity") ?? 0)) return undefined;
  return brotli === best ? "br" : "gzip";
}
