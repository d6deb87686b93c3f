import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { setImmediate } from "node:timers/promises";
import type { Context } from "../schema/context.js";

/** Bytes hashed before others have their turn: about two milliseconds. */
const stretchBytes = 1024 * 1024;

/**
 * The context of a request whose body has been read, with its Idempotency-Key where it has one
 * (IETF draft-ietf-httpapi-idempotency-key-header). Nothing is kept of the body but its fingerprint.
 */
export async function withIdempotency(
  context: Context,
  { headers }: IncomingMessage,
  path: string,
  body: Buffer,
): Promise<Context> {
  const key = headers["idempotency-key"];
  if (typeof key !== "string") return context;
  const hash = createHash("sha256").update(`${path}\n`);
  for (let at = 0; at < body.length; at += stretchBytes) {
    if (at > 0) await setImmediate();
    hash.update(body.subarray(at, at + stretchBytes));
  }
  return { ...context, idempotency: { key, fingerprint: hash.digest("hex") } };
}
