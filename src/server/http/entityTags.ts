import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { AppError } from "../../errors.js";

/** 132 bits of the digest. */
const tagCharacters = 22;

/** `W/"…"` (RFC 9110, section 8.8.3). Weak, because it serves all content codings. */
export function entityTag(body: string | Buffer): string {
  return `W/"${hash("sha256", body, "base64url").slice(0, tagCharacters)}"`;
}

const names = ["if-match", "if-none-match", "if-unmodified-since"] as const;

/** What proxies that compress put at the end of a tag: Apache `-gzip`, Jetty `--gzip`, and others `;gzip`. */
const codingSuffix = /(?:-{1,2}|;)(?:gzip|br|zstd|deflate)(?=")/gu;

/**
 * Whether a list of tags, or `*`, has a tag (RFC 9110, section 13.1). All comparisons are weak, also those of `If-Match`: a tag is
 * weak because it serves all content codings, but no other state of the resource has it.
 *
 * @param tag as entityTag() makes it
 */
export function isKnown(list: string | undefined, tag: string): boolean {
  if (list === undefined) return false;
  const quoted = tag.slice("W/".length);
  // Beside tags a list has no letters but W, so a match is a whole tag.
  return list === "*" || list.includes(quoted) || list.replace(codingSuffix, "").includes(quoted);
}

/** Checks what a write asks of the state that it replaces: the answer to GET, or undefined where nothing is there. */
export type Condition = (current: string | undefined) => void;

/**
 * The condition of a write (RFC 9110, section 13.2.2); undefined for one without. There are no dates of changes: a time cannot be
 * shown to hold, so it never does.
 *
 * @returns what throws PRECONDITION_FAILED
 */
export function conditionOf({ headers }: IncomingMessage): Condition | undefined {
  const [match, noneMatch, unmodifiedSince] = names.map((name) => headers[name]);
  if (match === undefined && noneMatch === undefined && unmodifiedSince === undefined) return undefined;
  return (current) => {
    const tag = current === undefined ? undefined : entityTag(current);
    const has = (list: string | undefined) => tag !== undefined && isKnown(list, tag);
    if (match !== undefined && !has(match)) throw failed("If-Match names no ETag of what is there now.");
    if (match === undefined && unmodifiedSince !== undefined) {
      throw failed("Nothing here has a time of its last change for If-Unmodified-Since: send the ETag in If-Match.");
    }
    if (has(noneMatch)) throw failed("If-None-Match names the ETag of what is there now, or any.");
  };
}

function failed(reason: string): AppError {
  return new AppError("PRECONDITION_FAILED", `${reason} Nothing was changed.`);
}

/** What answers a write with a condition where nothing has a tag: it would have no effect. */
export function conditionNotTaken(): AppError {
  const message =
    "If-Match, If-None-Match and If-Unmodified-Since are for PUT and DELETE of a path whose GET has an ETag; this one has none.";
  return new AppError("BAD_REQUEST", message);
}
