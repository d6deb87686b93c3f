import { randomBytes, randomUUID } from "node:crypto";
import type { Database } from "../database/client.js";
import { mayBeNodeOutage } from "../database/errors.js";
import { AppError, errorAt } from "../errors.js";
import { nameCharactersMax, textFault } from "../lib/text.js";
import { parseOrigins, sandboxed } from "./key.origins.js";
import { requireStore } from "./stores/store.js";
import { addRevocation, revocationOf, withRevocations } from "./token.js";

/** It stands in a store's public pages: it is no secret, and is stored in the clear. */
export interface IssuedKey {
  readonly id: string;
  readonly key: string;
  readonly store: string;
  readonly origins: readonly string[];
}

export interface KeySummary extends Omit<IssuedKey, "store"> {
  readonly label: string | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

/** Valid keys of one store. */
const keysMax = 100;

interface KeyOptions {
  /** The origins of pages that may use the key. */
  readonly origins: readonly string[];
  /** Whether sandboxed pages may use it too, whose origin browsers hide. */
  readonly isSandboxed?: boolean | undefined;
  readonly label?: string | undefined;
}

/**
 * @throws {AppError} NOT_FOUND for an unknown store; VALIDATION_FAILED for invalid origins or label, or for a store
 * with 100 keys
 */
export async function issueKey(
  db: Database,
  store: string,
  { origins: given, isSandboxed = false, label }: KeyOptions,
): Promise<IssuedKey> {
  const fault = textFault(label ?? "none", "label", nameCharactersMax);
  if (fault !== undefined) throw errorAt("VALIDATION_FAILED", fault.message, ["label"]);
  const origins = isSandboxed ? [...parseOrigins(given), sandboxed] : parseOrigins(given);
  await requireStore(db, store);
  if ((await db.publicKey.count({ where: { storeId: store, revokedAt: null } })) >= keysMax) {
    throw new AppError("VALIDATION_FAILED", `A store has at most ${keysMax} public keys: revoke one that is not used.`);
  }
  const [id, key] = [randomUUID(), `vp_${randomBytes(16).toString("base64url")}`];
  await db.publicKey.create({ data: { id, storeId: store, key, label: label ?? null, origins } });
  return { id, key, store, origins };
}

/** Includes revoked keys, in the order in which they were issued. @throws {AppError} NOT_FOUND for an unknown store */
export async function listKeys(db: Database, store: string): Promise<readonly KeySummary[]> {
  await requireStore(db, store);
  const keys = await db.publicKey.findMany({
    where: { storeId: store },
    omit: { storeId: true },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
  });
  return withRevocations(db, store, keys);
}

/** Servers notice within 5 seconds. Idempotent. @throws {AppError} NOT_FOUND */
export async function revokeKey(db: Database, store: string, id: string): Promise<{ readonly revokedAt: Date | null }> {
  const found = await db.publicKey.findUnique({ where: { id, storeId: store } });
  if (found === null) throw new AppError("NOT_FOUND", `Store ${store} has no public key ${id}.`);
  await addRevocation(db, store, id);
  const revokedAt = found.revokedAt ?? (await revocationOf(db, store, id));
  try {
    await db.publicKey.updateMany({ where: { id, storeId: store, revokedAt: null }, data: { revokedAt } });
  } catch (error) {
    if (!mayBeNodeOutage(error)) throw error;
  }
  return { revokedAt };
}
