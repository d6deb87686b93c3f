import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Context } from "../graphql/context.js";

/**
 * The context of a request whose body has been read, with its Idempotency-Key where it has one
 * (IETF draft-ietf-httpapi-idempotency-key-header). Nothing is kept of the body but its fingerprint.
 */
export function withIdempotency(context: Context, { headers }: IncomingMessage, path: string, body: Buffer): Context {
  const key = headers["idempotency-key"];
  if (typeof key !== "string") return context;
  const fingerprint = createHash("sha256").update(`${path}\n`).update(body).digest("hex");
  return { ...context, idempotency: { key, fingerprint } };
}
