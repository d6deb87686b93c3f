import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { Database, RootDatabase } from "../database/client.js";
import { inTransaction } from "../database/transaction.js";
import { AppError } from "../errors.js";
import { requireStore } from "./store.js";

/** A new token; the secret is not kept and cannot be shown again. */
export interface IssuedToken {
  readonly id: string;
  readonly token: string;
  readonly store: string;
  readonly expiresAt: Date | null;
}

/** What may be told about a token later. */
export interface TokenSummary {
  readonly id: string;
  readonly label: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

interface IssueOptions {
  readonly label?: string | undefined;
  readonly expiresAt?: Date | undefined;
  /** A secret of the operator's choice, for demonstrations. */
  readonly secret?: string | undefined;
}

/** The form in which a secret is stored and looked up: SHA-256, hexadecimal. The secret has 256 random bits, so no salt is needed. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** @throws {AppError} NOT_FOUND for an unknown store */
export async function issueToken(db: Database, store: string, options: IssueOptions = {}): Promise<IssuedToken> {
  await requireStore(db, store);
  const { label = null, expiresAt = null, secret = `vt_${randomBytes(32).toString("base64url")}` } = options;
  const id = randomUUID();
  await db.accessToken.create({ data: { id, storeId: store, label, expiresAt, hash: hashSecret(secret) } });
  return { id, token: secret, store, expiresAt };
}

/** The tokens of a store, oldest first. */
export async function listTokens(db: Database, store: string): Promise<readonly TokenSummary[]> {
  await requireStore(db, store);
  return db.accessToken.findMany({
    where: { storeId: store },
    omit: { hash: true, storeId: true },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
  });
}

interface RotateOptions {
  /** How long the old one goes on working, but not longer than it would have. */
  readonly graceMs: number;
  /** When the new one stops working; as the old one would have, if not given. */
  readonly expiresAt?: Date | undefined;
}

const rotationTimeoutMs = 10_000;

/**
 * Issues a token in place of another one.
 *
 * @throws {AppError} NOT_FOUND for a token that the store does not have or that no longer works
 */
export async function rotateToken(
  db: RootDatabase,
  store: string,
  id: string,
  { graceMs, expiresAt }: RotateOptions,
): Promise<IssuedToken> {
  return inTransaction(db, { timeoutMs: rotationTimeoutMs }, async (transaction) => {
    const old = await requireToken(transaction, store, id);
    if (!isValid(old)) throw new AppError("NOT_FOUND", `Token ${id} is revoked or expired; issue a new one.`);
    const graceEnds = new Date(Date.now() + graceMs);
    const oldEnds = old.expiresAt !== null && old.expiresAt < graceEnds ? old.expiresAt : graceEnds;
    await transaction.accessToken.update({ where: { id, storeId: store }, data: { expiresAt: oldEnds } });
    return issueToken(transaction, store, {
      label: old.label ?? undefined,
      expiresAt: expiresAt ?? old.expiresAt ?? undefined,
    });
  });
}

/** Ends a token. Servers notice within 5 seconds. @throws {AppError} NOT_FOUND */
export async function revokeToken(db: Database, store: string, id: string): Promise<TokenSummary> {
  const { revokedAt } = await requireToken(db, store, id);
  const {
    hash: _,
    storeId: __,
    ...summary
  } = await db.accessToken.update({
    where: { id, storeId: store },
    data: { revokedAt: revokedAt ?? new Date() },
  });
  return summary;
}

/** Whether a token works now. When it was revoked plays no part: the clock of another machine told it. */
export function isValid({ expiresAt, revokedAt }: Pick<TokenSummary, "expiresAt" | "revokedAt">): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt.getTime() > Date.now());
}

async function requireToken(db: Database, storeId: string, id: string) {
  const token = await db.accessToken.findUnique({ where: { id, storeId } });
  if (token === null) throw new AppError("NOT_FOUND", `Store ${storeId} has no token ${id}.`);
  return token;
}
