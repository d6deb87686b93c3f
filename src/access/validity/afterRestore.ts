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

/** A token or key that works once a backup is restored, although it may not be meant to. */
export interface Reinstated extends Pick<Credential, "kind" | "id" | "store" | "label"> {
  /** What has become of it since the backup: `unknown` where there is no database that would tell. */
  readonly since: "revoked" | "expires" | "missing" | "unknown";
  /** When it was revoked, or expires or has expired. */
  readonly at: Date | null;
}

/** What a restore does to access. */
export interface RestoredAccess {
  /** Valid in the backup, but not, or not for as long, in the database that is replaced. */
  readonly reinstated: readonly Reinstated[];
  /** Issued since the backup, and valid: the restored database does not know them. */
  readonly dropped: readonly Pick<Credential, "kind" | "id" | "store" | "label">[];
}

export type Credentials = ReadonlyMap<string, Credential>;

const tables = { token: "AccessToken", key: "PublicKey" } as const;

/** Reads all tokens and keys, also of a database that an older version has made. */
export async function readCredentials(query: Query): Promise<Credentials> {
  const revocations = await rowsOf(query, "Revocation");
  const revokedAt = new Map(revocations.map((row) => [row.id, row.revokedAt]));
  const all: Credential[] = [];
  for (const kind of ["token", "key"] as const) {
    for (const { id, storeId, label, ...times } of await rowsOf(query, tables[kind])) {
      const expires = times.expiresAt ?? null;
      const revoked = times.revokedAt ?? revokedAt.get(id) ?? null;
      all.push({
        kind,
        id,
        store: storeId,
        label: label ?? null,
        expiresAt: dateOf(expires),
        revokedAt: dateOf(revoked),
      });
    }
  }
  return new Map(all.map((credential) => [credential.id, credential]));
}

interface Row {
  readonly id: string;
  readonly storeId: string;
  readonly label?: string | null;
  readonly expiresAt?: string | null;
  readonly revokedAt?: string | null;
}

/** As JSON, so that a column which is not there yet is no error. */
async function rowsOf(query: Query, table: string): Promise<readonly Row[]> {
  const [found] = await query<{ exists: boolean }>(
    `/* backup */ SELECT to_regclass('"${table}"') IS NOT NULL AS exists`,
  );
  if (found?.exists !== true) return [];
  const rows = await query<{ row: Row }>(
    `/* backup */ SELECT to_jsonb(t) AS row FROM "${table}" AS t ORDER BY "storeId", id`,
  );
  return rows.map(({ row }) => row);
}

function dateOf(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

/** @param replaced undefined where there is no database to compare with: then every token and key may have been revoked */
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
    if (ids.length === 0) continue; // perhaps there is no such table
    await query(`/* backup */ UPDATE "${tables[kind]}" SET "revokedAt" = now() WHERE id = ANY ($1)`, [ids]);
  }
}
