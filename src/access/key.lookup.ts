import { LRUCache } from "lru-cache";
import type { RootDatabase } from "../database/client.js";
import { forStore, forTokenLookups } from "../database/shares/forStore.js";
import { AppError } from "../errors.js";
import { revocationOf } from "./token.js";

interface KnownKey {
  readonly storeId: string;
  readonly origins: readonly string[];
}

/** The store of a public key. @throws {AppError} UNAUTHENTICATED */
export type FindKey = (key: string) => Promise<KnownKey>;

/** Revoked keys must stop working within 5 seconds in every process. */
const trustMs = 3_000;
const keysMax = 10_000;
/** Separate, since guesses would evict valid keys. */
const invalidMax = 1_000;
const shape = /^vp_[\w-]{22}$/u;

/** Concurrent calls share one query. */
export function createFindKey(db: RootDatabase): FindKey {
  const found = new LRUCache<string, KnownKey>({ max: keysMax, ttl: trustMs });
  const invalid = new LRUCache<string, true>({ max: invalidMax, ttl: trustMs });
  const underWay = new Map<string, Promise<KnownKey | undefined>>();
  const look = async (key: string): Promise<KnownKey | undefined> => {
    const start = performance.now(); // it may be revoked from then on
    try {
      const known = await findValid(db, key);
      if (known === undefined) invalid.set(key, true, { start });
      else found.set(key, known, { start });
      return known;
    } finally {
      underWay.delete(key);
    }
  };
  const shared = (key: string): Promise<KnownKey | undefined> => {
    const looking = underWay.get(key) ?? look(key);
    underWay.set(key, looking);
    return looking;
  };
  return async (key) => {
    const isUnknown = !shape.test(key) || invalid.has(key);
    const known = isUnknown ? undefined : (found.get(key) ?? (await shared(key)));
    if (known === undefined) throw new AppError("UNAUTHENTICATED", "The public key is not valid.");
    return known;
  };
}

async function findValid(db: RootDatabase, key: string): Promise<KnownKey | undefined> {
  const row = await forTokenLookups(db).publicKey.findUnique({ where: { key } });
  if (row === null || row.revokedAt !== null) return undefined;
  const { storeId, id, origins } = row;
  return (await revocationOf(forStore(db, storeId), storeId, id)) === null ? { storeId, origins } : undefined;
}
