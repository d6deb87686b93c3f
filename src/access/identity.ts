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
/** Tokens in use at one time. */
const tokensMax = 10_000;
/** Wrong ones are remembered too, so that a client that goes on with one costs no queries; apart, or guesses would push out the others. */
const wrongMax = 1_000;

/**
 * Identity from access tokens. Timing tells nothing about a secret, since only its hash is looked up.
 * Concurrent calls with the same token share one query.
 */
export function createIdentify(db: Database): Identify {
  const tokens = new LRUCache<string, KnownToken>({ max: tokensMax, ttl: trustMs });
  const wrong = new LRUCache<string, true>({ max: wrongMax, ttl: trustMs });
  const underWay = new Map<string, Promise<KnownToken | undefined>>();

  const look = async (hash: string): Promise<KnownToken | undefined> => {
    const start = performance.now(); // from then on it may have been revoked
    try {
      const token = await findToken(db, hash);
      if (token === undefined) wrong.set(hash, true, { start });
      else tokens.set(hash, token, { start });
      return token;
    } finally {
      underWay.delete(hash);
    }
  };
  const shared = (hash: string): Promise<KnownToken | undefined> => {
    const looking = underWay.get(hash) ?? look(hash);
    underWay.set(hash, looking);
    return looking;
  };

  return async (secret) => {
    if (secret === undefined || secret === "") throw unauthenticated("The header X-Service-Access-Token is missing.");
    const hash = hashSecret(secret);
    const token = wrong.has(hash) ? undefined : (tokens.get(hash) ?? (await shared(hash)));
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
