import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { tokenHeader } from "../access/identity.js";

const acceptable = /^[\w.:-]{1,128}$/u;
/** What issued tokens begin with. */
const tokenLike = /vt_/iu;

/** The id that the caller gave its request in X-Request-Id, if it is harmless and no secret, or else a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  if (typeof given !== "string" || !acceptable.test(given) || tokenLike.test(given)) return randomUUID();
  const token = headers[tokenHeader]; // an operator may have chosen one of another form
  return typeof token === "string" && token !== "" && given.includes(token) ? randomUUID() : given;
}
