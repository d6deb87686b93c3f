import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

const acceptable = /^[\w.:-]{1,128}$/u;

/** The id that the caller gave its request in X-Request-Id, if it is harmless, or else a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && acceptable.test(given) ? given : randomUUID();
}
