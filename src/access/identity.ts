import { LRUCache } from "lru-cache";
import type { RootDatabase } from "../database/client.js";
import { forStore, forTokenLookups } from "../database/shares/forStore.js";
import { AppError } from "../errors.js";
import type { Granted } from "./scopes.js";
import { hashSecret, isValid, revocationOf } from "./token.js";

export interface Identity {
  readonly storeId: string;
  readonly tokenId: string;
  readonly scopes: Granted;
}

/** Authenticates by the secret sent. @throws {AppError} UNAUTHENTICATED */
export type Identify = (secret: string | undefined) => Promise<Identity>;

interface KnownToken extends Identity {
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

export const tokenHeader = "x-service-access-token";

/** Revoked tokens must stop working within 5 seconds in every process. */
const trustMs = 3_000;
const tokensMax = 10_000;
/** Separate, since guesses would evict valid tokens. */
const invalidMax = 1_000;

/** Concurrent calls share one query. Only the secret's hash is looked up, so that response times reveal nothing. */
export function createIdentify(db: RootDatabase): Identify {
  const tokens = new LRUCache<string, KnownToken>({ max: tokensMax, ttl: trustMs });
  const invalid = new LRUCache<string, true>({ max: invalidMax, ttl: trustMs });
  const underWay = new Map<string, Promise<KnownToken | undefined>>();

  const look = async (hash: string): Promise<KnownToken | undefined> => {
    const start = performance.now(); // it may be revoked from then on
    try {
      const token = await findToken(db, hash);
      if (token === undefined) invalid.set(hash, true, { start });
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
    const token = invalid.has(hash) ? undefined : (tokens.get(hash) ?? (await shared(hash)));
    if (token === undefined || !isValid(token)) throw unauthenticated("The access token is not valid.");
    return token;
  };
}

async function findToken(db: RootDatabase, hash: string): Promise<KnownToken | undefined> {
  const token = await forTokenLookups(db).accessToken.findUnique({ where: { hash } });
  if (token === null) return undefined;
  const { id: tokenId, storeId, expiresAt, scopes } = token;
  const revokedAt = token.revokedAt ?? (await revocationOf(forStore(db, storeId), storeId, tokenId));
  return { tokenId, storeId, expiresAt, revokedAt, scopes: new Set(scopes) };
}

function unauthenticated(message: string): AppError {
  return new AppError("UNAUTHENTICATED", message);
}
