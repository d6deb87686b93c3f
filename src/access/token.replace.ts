import { randomUUID } from "node:crypto";
import type { Database, RootDatabase } from "../database/client.js";
import { inTransaction } from "../database/transaction.js";
import { AppError } from "../errors.js";
import { type IssuedToken, isValid, requireToken, storeToken, type TokenSummary } from "./token.js";

interface RotateOptions {
  /** The old token expires then at the latest. */
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
 * Of two concurrent rotations, one is refused.
 *
 * @throws {AppError} NOT_FOUND for a token that the store does not have, that is invalid or that was replaced
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

/** Locks the row: concurrent rotations and revocations wait, and read it again. */
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

/** For a rotation whose secret was never shown. */
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
 * Servers notice within 5 seconds. An earlier replacement stays valid; that of a concurrent rotation is revoked too.
 *
 * @throws {AppError} NOT_FOUND
 */
export async function revokeToken(db: RootDatabase, store: string, id: string): Promise<Revocation> {
  const before = await requireToken(db, store, id);
  return inTransaction(db, { timeoutMs: transactionTimeoutMs }, async (transaction) => {
    const { revokedAt, replacedBy } = await revoke(transaction, store, id);
    const isReplacedBefore = replacedBy === before.replacedBy;
    const alsoRevoked = isReplacedBefore ? [] : await revokeSuccessors(transaction, store, replacedBy);
    const successor =
      isReplacedBefore && replacedBy !== null ? await requireToken(transaction, store, replacedBy) : null;
    return { revokedAt, replacedBy: successor !== null && isValid(successor) ? successor.id : null, alsoRevoked };
  });
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
