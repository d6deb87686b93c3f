import { hash } from "node:crypto";

/** 132 bits of the digest. */
const tagCharacters = 22;

/** `W/"…"` (RFC 9110, section 8.8.3). Weak, because it serves all content codings. */
export function entityTag(body: string | Buffer): string {
  return `W/"${hash("sha256", body, "base64url").slice(0, tagCharacters)}"`;
}

/**
 * Evaluates `If-None-Match`, a list of tags or `*` (RFC 9110, section 13.1.2). Only for an answer that would be a 200
 * to GET or HEAD.
 *
 * @param tag as entityTag() makes it
 */
export function isKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  // Beside tags a list has no letters but W, so a match is a whole tag.
  return ifNoneMatch === "*" || ifNoneMatch.includes(tag.slice("W/".length));
}
