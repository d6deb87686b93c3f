import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { setImmediate } from "node:timers/promises";
import type { Context } from "../schema/context.js";

/** Hashed in one turn of the event loop: about two milliseconds. */
const sliceBytes = 1024 * 1024;

/** IETF draft-ietf-httpapi-idempotency-key-header. The fingerprint is that of path and body. */
export async function withIdempotency(
  context: Context,
  request: IncomingMessage,
  path: string,
  body: Buffer,
): Promise<Context> {
  if (typeof request.headers["idempotency-key"] !== "string") return context;
  const hash = createHash("sha256").update(`${path}\n`);
  for (let at = 0; at < body.length; at += sliceBytes) {
    if (at > 0) await setImmediate();
    hash.update(body.subarray(at, at + sliceBytes));
  }
  return withFingerprint(context, request, hash.digest("hex"));
}

/** Takes a fingerprint that is known already. */
export function withFingerprint(context: Context, { headers }: IncomingMessage, fingerprint: string): Context {
  const key = headers["idempotency-key"];
  return typeof key === "string" ? { ...context, idempotency: { key, fingerprint } } : context;
}
