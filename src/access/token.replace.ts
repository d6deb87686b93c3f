import { randomUUID } from "node:crypto";
import type { Database, RootDatabase } from "../database/client.js";
import { inTransaction } from "../database/transaction.js";
import { AppError } from "../errors.js";
import { type IssuedToken, isValid, requireToken, storeToken, type TokenSummary } from "./token.js";

interface RotateOptions {
  /** How long the old one goes on working, but not longer than it would have. */
  readonly graceMs: number;
  /** When the new one stops working; as the old one would have, if not given. */
  readonly expiresAt?: Date | undefined;
}

/** A token that was issued in place of another. */
export interface Rotation {
  readonly issued: IssuedToken;
  /** What was replaced, as it was before. */
  readonly old: Pick<TokenSummary, "id" | "expiresAt">;
}

const transactionTimeoutMs = 10_000;

/**
 * Issues a token in place of another one, which can be replaced once: of two rotations at once, one is refused.
 *
 * @throws {AppError} NOT_FOUND for a token that the store does not have, that no longer works or that was replaced
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
      expiresAt: expiresAt ?? old.expiresAt ?? undefined,
    });
    return { issued, old: { id, expiresAt: old.expiresAt } };
  });
}

/** Marks a token as replaced. From then on its row is locked: whoever else would replace or revoke it waits, and looks again. */
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

/** Takes back a rotation whose secret nobody has seen: the old token works for as long as it would have. */
export async function undoRotation(db: RootDatabase, { issued, old }: Rotation): Promise<void> {
  const { store: storeId, id: replacedBy } = issued;
  await inTransaction(db, { timeoutMs: transactionTimeoutMs }, async (transaction) => {
    const data = { replacedBy: null, expiresAt: old.expiresAt };
    await transaction.accessToken.updateMany({ where: { id: old.id, storeId, replacedBy }, data });
    await transaction.accessToken.update({ where: { id: replacedBy, storeId }, data: { revokedAt: new Date() } });
  });
}

/** A token that works no more. */
export interface Revocation {
  readonly revokedAt: Date | null;
  /** The token that was issued in its place and goes on working. */
  readonly replacedBy: string | null;
  /** Those that were being issued in its place meanwhile, and were revoked with it. */
  readonly alsoRevoked: readonly string[];
}

/**
 * Ends a token. Servers notice within 5 seconds. A token that was issued in its place before goes on working; one of a
 * rotation that had not ended when this began ends with it.
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

/** The successor, and its own, should it have been rotated already. */
async function revokeSuccessors(transaction: Database, store: string, first: string | null): Promise<string[]> {
  const revoked: string[] = [];
  for (let next = first; next !== null;) {
    revoked.push(next);
    next = (await revoke(transaction, store, next)).replacedBy;
  }
  return revoked;
}

/** Locks the token's row before it is read: what a rotation does to it is done by then, or refused later. */
async function revoke(transaction: Database, storeId: string, id: string) {
  await transaction.accessToken.updateMany({
    where: { id, storeId, revokedAt: null },
    data: { revokedAt: new Date() },
  });
  return requireToken(transaction, storeId, id);
}
