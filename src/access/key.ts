import { randomBytes, randomUUID } from "node:crypto";
import type { Database } from "../database/client.js";
import { AppError, errorAt } from "../errors.js";
import { nameCharactersMax, textFault } from "../lib/text.js";
import { parseOrigins } from "./key.origins.js";
import { requireStore } from "./store.js";

/** A key that stands in a store's public pages. It is no secret, and is stored as it is. */
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

/** Of one store, that are not revoked. */
const keysMax = 100;

interface KeyOptions {
  /** The pages that may use it. */
  readonly origins: readonly string[];
  readonly label?: string | undefined;
}

/**
 * @throws {AppError} NOT_FOUND for an unknown store; VALIDATION_FAILED for origins that are none, a label that is blank or too
 * long, and where the store has 100 keys
 */
export async function issueKey(db: Database, store: string, { origins: given, label }: KeyOptions): Promise<IssuedKey> {
  const fault = textFault(label ?? "none", "label", nameCharactersMax);
  if (fault !== undefined) throw errorAt("VALIDATION_FAILED", fault.message, ["label"]);
  const origins = parseOrigins(given);
  await requireStore(db, store);
  if ((await db.publicKey.count({ where: { storeId: store, revokedAt: null } })) >= keysMax) {
    throw new AppError("VALIDATION_FAILED", `A store has at most ${keysMax} public keys: revoke one that is not used.`);
  }
  const [id, key] = [randomUUID(), `vp_${randomBytes(16).toString("base64url")}`];
  await db.publicKey.create({ data: { id, storeId: store, key, label: label ?? null, origins } });
  return { id, key, store, origins };
}

/** Revoked ones too, in the order in which they were issued. @throws {AppError} NOT_FOUND for an unknown store */
export async function listKeys(db: Database, store: string): Promise<readonly KeySummary[]> {
  await requireStore(db, store);
  return db.publicKey.findMany({
    where: { storeId: store },
    omit: { storeId: true },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
  });
}

/** Servers notice within 5 seconds. A second revocation changes nothing. @throws {AppError} NOT_FOUND */
export async function revokeKey(db: Database, store: string, id: string): Promise<{ readonly revokedAt: Date | null }> {
  await db.publicKey.updateMany({ where: { id, storeId: store, revokedAt: null }, data: { revokedAt: new Date() } });
  const found = await db.publicKey.findUnique({ where: { id, storeId: store } });
  if (found === null) throw new AppError("NOT_FOUND", `Store ${store} has no public key ${id}.`);
  return { revokedAt: found.revokedAt };
}
