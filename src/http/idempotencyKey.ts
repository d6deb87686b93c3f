import type { IncomingMessage } from "node:http";
import type { Context } from "../schema/context.js";
import { keyNotTaken } from "../schema/idempotency.js";

/** What a fingerprint covers before the body: the path. Undefined for a request without a key. */
export function fingerprintScope({ headers }: IncomingMessage, path: string): string | undefined {
  return typeof headers["idempotency-key"] === "string" ? `${path}\n` : undefined;
}

/** For calls that take no key. @throws {AppError} BAD_REQUEST */
export function refuseKey({ headers }: IncomingMessage): void {
  if (headers["idempotency-key"] !== undefined) throw keyNotTaken();
}

/** IETF draft-ietf-httpapi-idempotency-key-header. */
export function withIdempotency(
  context: Context,
  { headers }: IncomingMessage,
  fingerprint: string | undefined,
): Context {
  const key = headers["idempotency-key"];
  if (typeof key !== "string" || fingerprint === undefined) return context;
  return { ...context, sent: { ...context.sent, idempotency: { key, fingerprint } } };
}
