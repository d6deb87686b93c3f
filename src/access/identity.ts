import { LRUCache } from "lru-cache";
import type { Database } from "../database/client.js";
import { AppError } from "../errors.js";
import { hashSecret, isValid } from "./token.js";

/** Who calls: the store whose access token was sent. */
export interface Identity {
  readonly storeId: string;
  readonly tokenId: string;
}

/** Finds the caller by the secret sent. @throws {AppError} UNAUTHENTICATED */
export type Identify = (secret: string | undefined) => Promise<Identity>;

interface KnownToken extends Identity {
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

export const tokenHeader = "x-service-access-token";

/** Revoked tokens must stop working within 5 seconds in every process; answers are trusted for less than that. */
const trustMs = 3_000;
/** Tokens in use at one time, and as many wrong ones, which are remembered too so that guessing costs no queries. */
const tokensMax = 10_000;

/**
 * Identity from access tokens. Timing tells nothing about a secret, since only its hash is looked up.
 * Concurrent calls with the same token share one query.
 */
export function createIdentify(db: Database): Identify {
  const tokens = new LRUCache<string, Promise<KnownToken | undefined>>({ max: tokensMax, ttl: trustMs });

  return async (secret) => {
    if (secret === undefined || secret === "") throw unauthenticated("The header X-Service-Access-Token is missing.");
    const hash = hashSecret(secret);
    let pending = tokens.get(hash);
    if (pending === undefined) {
      pending = findToken(db, hash);
      tokens.set(hash, pending);
      pending.catch(() => tokens.delete(hash));
    }
    const token = await pending;
    if (token === undefined || !isValid(token)) throw unauthenticated("The access token is not valid.");
    return token;
  };
}

async function findToken(db: Database, hash: string): Promise<KnownToken | undefined> {
  const token = await db.accessToken.findUnique({ where: { hash } });
  if (token === null) return undefined;
  const { id: tokenId, storeId, expiresAt, revokedAt } = token;
  return { tokenId, storeId, expiresAt, revokedAt };
}

function unauthenticated(message: string): AppError {
  return new AppError("UNAUTHENTICATED", message);
}
