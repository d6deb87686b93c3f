import { randomUUID } from "node:crypto";
import type { Database, RootDatabase } from "../database/client.js";
import { mayBeNodeOutage } from "../database/databaseErrors.js";
import { inTransaction } from "../database/transaction.js";
import { AppError } from "../errors.js";
import {
  addRevocation,
  type IssuedToken,
  isValid,
  requireToken,
  storeToken,
  type TokenSummary,
  revocationOf,
} from "./token.js";

interface RotateOptions {
  /** The old token expires after this time at the latest. */
  readonly graceMs: number;
  /** The old token's expiry by default. */
  readonly expiresAt?: Date | undefined;
}

export interface Rotation {
  readonly issued: IssuedToken;
  readonly old: Pick<TokenSummary, "id" | "expiresAt">;
}

const transactionTimeoutMs = 10_000;

/**
 * Issues a token in place of another one. One of two concurrent rotations is refused.
 *
 * @throws {AppError} NOT_FOUND for a token that the store does not have, or that is invalid or replaced
 */
export async function rotateToken(
  db: RootDatabase,
  store: string,
  id: string,
  { graceMs, expiresAt }: RotateOptions,
): Promise<Rotation> {
  return inTransaction(db, { timeoutMs: transactionTimeoutMs }, async (transaction) => {
    const newId = randomUUID();
    const old = await claim(transaction, store, id, newId);
    const graceEnds = new Date(Date.now() + graceMs);
    const oldEnds = old.expiresAt !== null && old.expiresAt < graceEnds ? old.expiresAt : graceEnds;
    await transaction.accessToken.update({ where: { id, storeId: store }, data: { expiresAt: oldEnds } });
    const issued = await storeToken(transaction, store, newId, {
      label: old.label ?? undefined,
      scopes: old.scopes,
      expiresAt: expiresAt ?? old.expiresAt ?? undefined,
    });
    return { issued, old: { id, expiresAt: old.expiresAt } };
  });
}

/** Locks the row, so that concurrent rotations and revocations wait and then read it. */
async function claim(transaction: Database, storeId: string, id: string, newId: string) {
  const { count } = await transaction.accessToken.updateMany({
    where: { id, storeId, revokedAt: null, replacedBy: null },
    data: { replacedBy: newId },
  });
  const token = await requireToken(transaction, storeId, id);
  if (!isValid(token)) throw new AppError("NOT_FOUND", `Token ${id} is revoked or expired; issue a new one.`);
  if (count === 0) {
    throw new AppError("NOT_FOUND", `Token ${id} was replaced by token ${token.replacedBy}; rotate that one instead.`);
  }
  return token;
}

/** Undoes a rotation whose secret was never shown. */
export async function undoRotation(db: RootDatabase, { issued, old }: Rotation): Promise<void> {
  const { store: storeId, id: replacedBy } = issued;
  await inTransaction(db, { timeoutMs: transactionTimeoutMs }, async (transaction) => {
    const data = { replacedBy: null, expiresAt: old.expiresAt };
    await transaction.accessToken.updateMany({ where: { id: old.id, storeId, replacedBy }, data });
    await transaction.accessToken.update({ where: { id: replacedBy, storeId }, data: { revokedAt: new Date() } });
  });
}

export interface Revocation {
  readonly revokedAt: Date | null;
  /** A valid token that had replaced it. */
  readonly replacedBy: string | null;
  /** Replacements by concurrent rotations. */
  readonly alsoRevoked: readonly string[];
}

/**
 * Servers notice within 5 seconds. An earlier replacement stays valid; a replacement by a concurrent rotation is revoked too.
 *
 * @throws {AppError} NOT_FOUND
 */
export async function revokeToken(db: RootDatabase, store: string, id: string): Promise<Revocation> {
  const before = await requireToken(db, store, id);
  await addRevocation(db, store, id);
  try {
    return await revokeRow(db, store, id, before.replacedBy);
  } catch (error) {
    if (!mayBeNodeOutage(error)) throw error;
    // No rotation can be running, because it would write to that node too.
    const revokedAt = before.revokedAt ?? (await revocationOf(db, store, id));
    return { revokedAt, replacedBy: await validSuccessor(db, store, before.replacedBy), alsoRevoked: [] };
  }
}

function revokeRow(db: RootDatabase, store: string, id: string, replacedBefore: string | null): Promise<Revocation> {
  return inTransaction(db, { timeoutMs: transactionTimeoutMs }, async (transaction) => {
    const { revokedAt, replacedBy } = await revoke(transaction, store, id);
    if (replacedBy !== replacedBefore) {
      return { revokedAt, replacedBy: null, alsoRevoked: await revokeSuccessors(transaction, store, replacedBy) };
    }
    return { revokedAt, replacedBy: await validSuccessor(transaction, store, replacedBy), alsoRevoked: [] };
  });
}

async function validSuccessor(db: Database, store: string, replacedBy: string | null): Promise<string | null> {
  if (replacedBy === null) return null;
  const successor = await requireToken(db, store, replacedBy);
  return isValid(successor) ? successor.id : null;
}

async function revokeSuccessors(transaction: Database, store: string, first: string | null): Promise<string[]> {
  const revoked: string[] = [];
  for (let next = first; next !== null;) {
    revoked.push(next);
    next = (await revoke(transaction, store, next)).replacedBy;
  }
  return revoked;
}

/** Locks the row before reading it: a concurrent rotation has finished, or will be refused. */
async function revoke(transaction: Database, storeId: string, id: string) {
  await transaction.accessToken.updateMany({
    where: { id, storeId, revokedAt: null },
    data: { revokedAt: new Date() },
  });
  return requireToken(transaction, storeId, id);
}
