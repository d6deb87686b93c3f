import type { RootDatabase } from "../database/client.js";
import { isMigrated } from "../database/migrations.js";
import { inTime } from "../inTime.js";

interface Readiness {
  readonly status: "ready" | "unavailable";
  readonly database: "ok" | "unreachable" | "not migrated";
}

/** Whether requests can be served: the database answers in time and has every migration. It never throws. */
export type CheckReadiness = () => Promise<Readiness>;

const checkTimeoutMs = 3_000;
/** Anybody may ask, as often as they like: the database is asked once a second. */
const trustMs = 1_000;

/** Callers share the check that is under way, and its outcome for a second. */
export function createReadinessCheck(db: RootDatabase): CheckReadiness {
  let latest: Promise<Readiness> | undefined;
  let trustedUntil = Number.POSITIVE_INFINITY;
  const check = async (): Promise<Readiness> => {
    const readiness = await look(db);
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

function look(db: RootDatabase): Promise<Readiness> {
  return inTime(isMigrated(db), checkTimeoutMs, "The database").then(
    (migrated) =>
      migrated ? { status: "ready", database: "ok" } : { status: "unavailable", database: "not migrated" },
    () => ({ status: "unavailable", database: "unreachable" }),
  );
}
