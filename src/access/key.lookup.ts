import type { Database, RootDatabase } from "../database/client.js";
import { forStore, forTokenLookups } from "../database/shares/forStore.js";
import { AppError } from "../errors.js";
import { storeOfValid } from "./token.js";
import { createTrusted } from "./validity/trusted.js";

interface KnownKey {
  readonly id: string;
  readonly storeId: string;
  /** Tells the store from a later one with its id. */
  readonly storeCreatedAt: Date;
  readonly origins: readonly string[];
}

/**
 * The store of a public key.
 *
 * @param db for a lookup, on a connection that the caller holds
 * @throws {AppError} UNAUTHENTICATED
 */
export type FindKey = (key: string, db?: Database) => Promise<KnownKey>;

const shape = /^vp_[\w-]{22}$/u;

export function createFindKey(root: RootDatabase): FindKey {
  const lookUp = createTrusted((key, db) => findValid(key, root, db));
  return async (key, db) => {
    const known = shape.test(key) ? await lookUp(key, db) : undefined;
    if (known === undefined) throw new AppError("UNAUTHENTICATED", "The public key is not valid.");
    return known;
  };
}

async function findValid(key: string, root: RootDatabase, db?: Database): Promise<KnownKey | undefined> {
  const row = await (db ?? forTokenLookups(root)).publicKey.findUnique({ where: { key } });
  if (row === null || row.revokedAt !== null) return undefined;
  const { storeId, id, origins } = row;
  const storeCreatedAt = await storeOfValid(db ?? forStore(root, storeId), storeId, id);
  return storeCreatedAt && { id, storeId, storeCreatedAt, origins };
}
