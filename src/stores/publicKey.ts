import { randomBytes, randomUUID } from "node:crypto";
import type { Database, RootDatabase } from "../database/client.js";
import { mayBeNodeOutage } from "../database/databaseErrors.js";
import { AppError, errorAt, Problems } from "../errors.js";
import { nameCharactersMax, textFault } from "../lib/text.js";
import { requireStore } from "./store.js";
import { addRevocation, isOfStore, revocationOf, withRevocations } from "./token.js";
import { forStore, forTokenLookups } from "../database/shares/forStore.js";
import { createTrusted } from "./validity/validity.js";
import { mustBe } from "../lib/mustBe.js";

/** Not a secret, because a store's public pages contain it: stored in the clear. */
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
  /** Whether sandboxed pages, whose origin browsers hide, may use it too. */
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

interface KnownKey {
  readonly id: string;
  readonly storeId: string;
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
  return (await isOfStore(db ?? forStore(root, storeId), storeId, id)) ? { id, storeId, origins } : undefined;
}

const originsMax = 20;

/** A host has at most 253 characters (RFC 1035, section 2.3.4). */
const charactersMax = 270;

const subdomains = "*.";

/** Replaces it while a URL is parsed, because a host cannot have an asterisk. */
const anyLabel = "any-subdomain.";

const expected = "an origin such as https://shop.example, or https://*.shop.example for its subdomains";

/** The origin of sandboxed pages, which have none. */
const sandboxed = "null";

/**
 * Origins as browsers send them, without duplicates: in lower case and Punycode, without a default port or a trailing slash. Any
 * scheme with a host is allowed, because apps have their own, such as `capacitor://localhost`.
 *
 * @throws {AppError} VALIDATION_FAILED for none, for too many, or for anything but origins, suggesting the one that is probably meant
 */
export function parseOrigins(given: readonly string[]): string[] {
  const problems = new Problems();
  const origins = new Set<string>();
  given.forEach((text, index) => {
    const { origin, isAll = false } = originOf(text) ?? {};
    if (origin !== undefined && isAll) return origins.add(origin);
    const message = `${mustBe("origin", expected, text)}${origin === undefined ? "" : ` Use ${origin}.`}`;
    return problems.add({ code: "INVALID_VALUE", message, path: ["origins", index] });
  });
  if (given.length === 0 || origins.size > originsMax) {
    const message = `A key has 1 to ${originsMax} origins.`;
    problems.add({ code: "INVALID_VALUE", message, path: ["origins"] });
  }
  problems.throwIfAny();
  return [...origins];
}

/** The origin of a URL whose host may begin with `*.`, and whether the URL is only an origin. Undefined if it has none. */
function originOf(text: string): { readonly origin: string; readonly isAll: boolean } | undefined {
  const [, scheme, wildcard = "", rest = ""] = /^([a-z][a-z\d+.-]*:\/\/)(\*\.)?([^*\s]+)$/iu.exec(text) ?? [];
  const example = `${scheme}${wildcard === "" ? "" : anyLabel}${rest}`;
  if (scheme === undefined || text.length > charactersMax || !URL.canParse(example)) return undefined;
  const { protocol, host, hostname } = new URL(example);
  if (host === "") return undefined;
  const origin = `${protocol}//${host}`.toLowerCase(); // `URL.origin` is "null" for schemes of apps
  const isAll = /^[^/?#@\\]+\/?$/u.test(rest);
  if (wildcard === "") return { origin, isAll };
  const hasDomain = hostname.slice(anyLabel.length).includes(".");
  return hasDomain ? { origin: origin.replace(anyLabel, subdomains), isAll } : undefined;
}

/** Whether a page of this origin may use a key with these origins. */
export function isAmong(origins: readonly string[], origin: string): boolean {
  return origins.some((allowed) => {
    const [scheme = "", host] = allowed.split(subdomains);
    if (host === undefined) return origin === allowed;
    return origin.startsWith(scheme) && origin.endsWith(`.${host}`) && origin.length > allowed.length - 1;
  });
}

/**
 * Whether a viewer's source is a page of the same shop: a host of these origins, or a subdomain of one. Ignores ports, `www.`, case and a
 * dot at the end.
 */
export function isOwnHost(origins: readonly string[], source: string): boolean {
  const host = plainHost(source);
  return origins.some((origin) => {
    const own = plainHost(origin.split("/")[2]?.replace(subdomains, "") ?? "");
    return own !== "" && (host === own || host.endsWith(`.${own}`));
  });
}

function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^www\./u, "")
    .replace(/\.?(?::\d+)?$/u, "");
}
