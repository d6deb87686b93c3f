import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { Database, RootDatabase } from "../database/client.js";
import { AppError, errorAt } from "../errors.js";
import { nameCharactersMax, textFault } from "../lib/text.js";
import { scopes as allScopes, type Scope } from "../schema/scopes.js";
import { requireStore } from "./store.js";
import { forStore, forTokenLookups } from "../database/shares/forStore.js";
import type { Identity } from "../schema/context.js";
import { createTrusted } from "./validity/validity.js";

/** The secret is not stored. */
export interface IssuedToken {
  readonly id: string;
  readonly token: string;
  readonly store: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
}

export interface TokenSummary {
  readonly id: string;
  readonly label: string | null;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly replacedBy: string | null;
}

interface IssueOptions {
  readonly label?: string | undefined;
  /** What it allows: everything by default. */
  readonly scopes?: readonly string[] | undefined;
  readonly expiresAt?: Date | undefined;
  /** Random by default. */
  readonly secret?: string | undefined;
}

/** SHA-256, hexadecimal. Secrets have 256 random bits, so no salt is needed. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** @throws {AppError} NOT_FOUND for an unknown store, VALIDATION_FAILED for an unknown scope or a label that is blank or too long */
export async function issueToken(db: Database, store: string, options: IssueOptions = {}): Promise<IssuedToken> {
  const fault = textFault(options.label ?? "none", "label", nameCharactersMax);
  if (fault !== undefined) throw errorAt("VALIDATION_FAILED", fault.message, ["label"]);
  const scopes = parseScopes(options.scopes);
  await requireStore(db, store);
  return storeToken(db, store, randomUUID(), { ...options, scopes });
}

export async function storeToken(
  db: Database,
  store: string,
  id: string,
  options: IssueOptions & { readonly scopes: readonly string[] },
): Promise<IssuedToken> {
  const { label = null, scopes, expiresAt = null, secret = `vt_${randomBytes(32).toString("base64url")}` } = options;
  await db.accessToken.create({
    data: { id, storeId: store, label, scopes: [...scopes], expiresAt, hash: hashSecret(secret) },
  });
  return { id, token: secret, store, scopes, expiresAt };
}

export async function listTokens(db: Database, store: string): Promise<readonly TokenSummary[]> {
  await requireStore(db, store);
  const tokens = await db.accessToken.findMany({
    where: { storeId: store },
    omit: { hash: true, storeId: true },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
  });
  return withRevocations(db, store, tokens);
}

/** A revocation in the future counts too: machines' clocks differ. */
export function isValid({ expiresAt, revokedAt }: Pick<TokenSummary, "expiresAt" | "revokedAt">): boolean {
  return revokedAt === null && !hasExpired({ expiresAt });
}

function hasExpired({ expiresAt }: Pick<TokenSummary, "expiresAt">): boolean {
  return expiresAt !== null && expiresAt.getTime() <= Date.now();
}

/** @throws {AppError} NOT_FOUND */
export async function requireToken(db: Database, storeId: string, id: string) {
  const token = await db.accessToken.findUnique({ where: { id, storeId } });
  if (token === null) throw new AppError("NOT_FOUND", `Store ${storeId} has no token ${id}.`);
  return { ...token, revokedAt: token.revokedAt ?? (await revocationOf(db, storeId, id)) };
}

/**
 * Revokes a token or public key. On Citus, the row of a token is on all nodes and cannot be written while one is down. A revocation
 * only needs the node of the store.
 *
 * @param id of a token or key that the store has
 */
export async function addRevocation(db: Database, storeId: string, id: string): Promise<void> {
  await db.$executeRaw`
    INSERT INTO "Revocation" ("storeId", id, "revokedAt")
    SELECT o.id, ${id}, ${new Date()}::timestamptz FROM "Store" AS o WHERE o.id = ${storeId}
    ON CONFLICT ("storeId", id) DO NOTHING`;
}

export async function revocationOf(db: Database, storeId: string, id: string): Promise<Date | null> {
  // findFirst: see storeStatements.ts
  const found = await db.revocation.findFirst({ where: { storeId, id }, select: { revokedAt: true } });
  return found?.revokedAt ?? null;
}

/** Whether the store of a token, public key or hook exists and has not revoked it. */
export async function isOfStore(db: Database, storeId: string, id: string): Promise<boolean> {
  const found = await db.$queryRaw<object[]>`/* store_of_token */
    SELECT true AS "isThere" FROM "Store" AS o WHERE o.id = ${storeId}
      AND NOT EXISTS (SELECT FROM "Revocation" AS r WHERE r."storeId" = ${storeId} AND r.id = ${id})`;
  return found.length > 0;
}

/** Adds the times at which tokens or keys of a store were revoked. */
export async function withRevocations<Row extends { readonly id: string; readonly revokedAt: Date | null }>(
  db: Database,
  storeId: string,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const revoked = await db.revocation.findMany({ where: { storeId } });
  const times = new Map(revoked.map(({ id, revokedAt }) => [id, revokedAt]));
  return rows.map((row) => ({ ...row, revokedAt: row.revokedAt ?? times.get(row.id) ?? null }));
}

/**
 * The scopes in order, without duplicates; all if none is given.
 *
 * @throws {AppError} VALIDATION_FAILED for an unknown one
 */
function parseScopes(given: readonly string[] = []): Scope[] {
  const unknown = given.find((name) => !(allScopes as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw errorAt("VALIDATION_FAILED", `scope must be one of ${allScopes.join(", ")}.`, ["scope"]);
  }
  return given.length === 0 ? [...allScopes] : allScopes.filter((scope) => given.includes(scope));
}

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
  if (!(await isOfStore(db ?? forStore(root, storeId), storeId, tokenId))) return undefined;
  return { tokenId, storeId, expiresAt, scopes: new Set(scopes) };
}

function unauthenticated(message: string): AppError {
  return new AppError("UNAUTHENTICATED", message);
}
