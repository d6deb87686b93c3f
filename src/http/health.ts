import type { DatabaseReadiness } from "../database/readiness.js";
import { withTimeout } from "../lib/timeout.js";

interface Readiness {
  readonly status: "ready" | "unavailable";
  readonly database: "ok" | "unreachable" | "not migrated";
}

/** The database must answer in time and have every migration. Never rejects. */
export type CheckReadiness = () => Promise<Readiness>;

const checkTimeoutMs = 3_000;
/** The check is public, so the database is queried once a second at most. */
const resultTtlMs = 1_000;

export function createReadinessCheck(database: DatabaseReadiness): CheckReadiness {
  const isMigrated = createQuery(database);
  let latest: Promise<Readiness> | undefined;
  let trustedUntil = Number.POSITIVE_INFINITY;
  const check = async (): Promise<Readiness> => {
    const readiness = await readinessOf(isMigrated);
    trustedUntil = performance.now() + resultTtlMs;
    return readiness;
  };
  return () => {
    if (latest !== undefined && performance.now() < trustedUntil) return latest;
    trustedUntil = Number.POSITIVE_INFINITY; // while the check is in progress
    latest = check();
    return latest;
  };
}

function readinessOf(isMigrated: () => Promise<boolean>): Promise<Readiness> {
  return isMigrated().then(
    (migrated) =>
      migrated ? { status: "ready", database: "ok" } : { status: "unavailable", database: "not migrated" },
    () => ({ status: "unavailable", database: "unreachable" }),
  );
}

/** One query at a time. When it times out, its last positive answer counts for `database.trustMs`. */
function createQuery(database: DatabaseReadiness): () => Promise<boolean> {
  let pending: Promise<boolean> | undefined;
  let migratedAt = Number.NEGATIVE_INFINITY;
  const ask = async (): Promise<boolean> => {
    try {
      const isMigrated = await database.isMigrated();
      if (isMigrated) migratedAt = performance.now();
      return isMigrated;
    } catch (error) {
      migratedAt = Number.NEGATIVE_INFINITY;
      throw error;
    } finally {
      pending = undefined;
    }
  };
  return async () => {
    pending ??= ask();
    const timedOut = async (error: unknown): Promise<boolean> => {
      if (performance.now() - migratedAt < database.trustMs) return true;
      throw error;
    };
    return withTimeout(pending, checkTimeoutMs, "The database").catch(timedOut);
  };
}
