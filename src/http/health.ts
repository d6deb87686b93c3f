import type { DatabaseReadiness } from "../database/readiness.js";
import { withTimeout } from "../lib/timeout.js";

interface Readiness {
  readonly status: "ready" | "unavailable";
  readonly database: "ok" | "unreachable" | "not migrated";
}

/** Whether requests can be served: the database answers in time and has every migration. It never throws. */
export type CheckReadiness = () => Promise<Readiness>;

const checkTimeoutMs = 3_000;
/** Anybody may ask, as often as they like: the database is asked once a second. */
const trustMs = 1_000;

/**
 * Callers share the check that is under way, and its outcome for a second. While the database is asked, what it answered last
 * counts for as long as it says that it may.
 */
export function createReadinessCheck(database: DatabaseReadiness): CheckReadiness {
  const ask = createAsking(database);
  let latest: Promise<Readiness> | undefined;
  let trustedUntil = Number.POSITIVE_INFINITY;
  const check = async (): Promise<Readiness> => {
    const readiness = await look(ask);
    trustedUntil = performance.now() + trustMs;
    return readiness;
  };
  return () => {
    if (latest !== undefined && performance.now() < trustedUntil) return latest;
    trustedUntil = Number.POSITIVE_INFINITY; // until it is known
    latest = check();
    return latest;
  };
}

function look(ask: () => Promise<boolean>): Promise<Readiness> {
  return ask().then(
    (migrated) =>
      migrated ? { status: "ready", database: "ok" } : { status: "unavailable", database: "not migrated" },
    () => ({ status: "unavailable", database: "unreachable" }),
  );
}

/** Asks the database once at a time, and waits no longer than checks may take. */
function createAsking(database: DatabaseReadiness): () => Promise<boolean> {
  let underWay: Promise<boolean> | undefined;
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
      underWay = undefined;
    }
  };
  return async () => {
    underWay ??= ask();
    const timedOut = async (error: unknown): Promise<boolean> => {
      if (performance.now() - migratedAt < database.trustMs) return true;
      throw error;
    };
    return withTimeout(underWay, checkTimeoutMs, "The database").catch(timedOut);
  };
}
