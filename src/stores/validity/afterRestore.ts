import { isValid } from "../token.js";
import type { Query } from "../../database/backup/restore.js";

/** An access token or a public key, as one database has it. */
interface Credential {
  readonly kind: "token" | "key";
  readonly id: string;
  readonly store: string;
  readonly label: string | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** A token or key that works again after a restore, although it may have been revoked. */
export interface Reinstated extends Pick<Credential, "kind" | "id" | "store" | "label"> {
  /** What happened to it since the backup; `unknown` if there is no database to compare with. */
  readonly since: "revoked" | "expires" | "missing" | "unknown";
  /** When it was revoked or expires. */
  readonly at: Date | null;
}

/** What a restore does to access. */
export interface RestoredAccess {
  /** Valid in the backup, but not valid, or not for as long, in the replaced database. */
  readonly reinstated: readonly Reinstated[];
  /** Issued since the backup, and valid: the restored database does not know them. */
  readonly dropped: readonly Pick<Credential, "kind" | "id" | "store" | "label">[];
}

export type Credentials = ReadonlyMap<string, Credential>;

const tables = { token: "AccessToken", key: "PublicKey" } as const;

/** Reads all tokens and keys; none from a database without tables. */
export async function readCredentials(query: Query): Promise<Credentials> {
  const [found] = await query<{ exists: boolean }>(
    `/* backup */ SELECT to_regclass('"Revocation"') IS NOT NULL AS exists`,
  );
  if (found?.exists !== true) return new Map();
  const all = await query<Credential>(`/* backup */
    SELECT kind, id, "storeId" AS store, label, "expiresAt", coalesce(c."revokedAt", r."revokedAt") AS "revokedAt"
    FROM (
      SELECT 'token' AS kind, id, "storeId", label, "expiresAt", "revokedAt" FROM "AccessToken"
      UNION ALL SELECT 'key', id, "storeId", label, NULL, "revokedAt" FROM "PublicKey") AS c
    LEFT JOIN "Revocation" AS r USING ("storeId", id)
    ORDER BY kind DESC, "storeId", id`);
  return new Map(all.map((credential) => [credential.id, credential]));
}

/** @param replaced undefined if there is no database to compare with: then any token or key may have been revoked */
export function compareAccess(backup: Credentials, replaced: Credentials | undefined): RestoredAccess {
  const valid = [...backup.values()].filter(isValid);
  const reinstated = valid.flatMap((credential): Reinstated[] => {
    const change = replaced === undefined ? unknown : changeOf(credential, replaced.get(credential.id));
    return change === undefined ? [] : [{ ...nameOf(credential), ...change }];
  });
  const dropped = [...(replaced?.values() ?? [])]
    .filter((credential) => !backup.has(credential.id) && isValid(credential))
    .map(nameOf);
  return { reinstated, dropped };
}

function nameOf({ kind, id, store, label }: Credential): Pick<Credential, "kind" | "id" | "store" | "label"> {
  return { kind, id, store, label };
}

const unknown = { since: "unknown", at: null } as const;

function changeOf(old: Credential, current: Credential | undefined): Pick<Reinstated, "since" | "at"> | undefined {
  if (current === undefined) return { since: "missing", at: null };
  if (current.revokedAt !== null) return { since: "revoked", at: current.revokedAt };
  const { expiresAt } = current;
  if (expiresAt === null || (old.expiresAt !== null && old.expiresAt <= expiresAt)) return undefined;
  return { since: "expires", at: expiresAt };
}

/** Revokes tokens and keys of a restored database. */
export async function revokeReinstated(query: Query, reinstated: readonly Reinstated[]): Promise<void> {
  for (const kind of ["token", "key"] as const) {
    const ids = reinstated.filter((one) => one.kind === kind).map(({ id }) => id);
    if (ids.length === 0) continue; // there may be no tables
    await query(`/* backup */ UPDATE "${tables[kind]}" SET "revokedAt" = now() WHERE id = ANY ($1)`, [ids]);
  }
}
