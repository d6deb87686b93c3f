import type { Database, RootDatabase } from "../database/client.js";
import { forStore, forTokenLookups } from "../database/shares/forStore.js";
import { AppError } from "../errors.js";
import type { Identity } from "../schema/context.js";
import { hashSecret, hasExpired, storeOfValid } from "./token.js";
import { createTrusted } from "./validity/trusted.js";

/**
 * Authenticates by the secret sent.
 *
 * @param db for a lookup, on a connection that the caller holds
 * @throws {AppError} UNAUTHENTICATED
 */
export type Identify = (secret: string | undefined, db?: Database) => Promise<Identity>;

interface KnownToken extends Identity {
  readonly expiresAt: Date | null;
}

export const tokenHeader = "x-service-access-token";

/** Only the secret's hash is looked up, so that response times reveal nothing. */
export function createIdentify(root: RootDatabase): Identify {
  const lookUp = createTrusted((hash, db) => findToken(hash, root, db));
  return async (secret, db) => {
    if (secret === undefined || secret === "") throw unauthenticated("The header X-Service-Access-Token is missing.");
    const token = await lookUp(hashSecret(secret), db);
    if (token === undefined || hasExpired(token)) throw unauthenticated("The access token is not valid.");
    return token;
  };
}

async function findToken(hash: string, root: RootDatabase, db?: Database): Promise<KnownToken | undefined> {
  const token = await (db ?? forTokenLookups(root)).accessToken.findUnique({ where: { hash } });
  if (token === null || token.revokedAt !== null) return undefined;
  const { id: tokenId, storeId, expiresAt, scopes } = token;
  const storeCreatedAt = await storeOfValid(db ?? forStore(root, storeId), storeId, tokenId);
  return storeCreatedAt && { tokenId, storeId, storeCreatedAt, expiresAt, scopes: new Set(scopes) };
}

function unauthenticated(message: string): AppError {
  return new AppError("UNAUTHENTICATED", message);
}
