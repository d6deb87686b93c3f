import type { Fault } from "../../database/databaseErrors.js";
import type { DatabaseReadiness } from "../../database/readiness.js";
import { CachedFor } from "../../lib/cached.js";
import { withTimeout } from "../../lib/timers.js";

interface Readiness {
  readonly status: "ready" | "unavailable";
  readonly database: "ok" | "unreachable" | Fault;
}

/** Ready means that the database answers in time, has every migration and accepts writes. Never rejects. */
export type CheckReadiness = () => Promise<Readiness>;

const checkTimeoutMs = 3_000;
/** Anybody may request the check, so we query the database at most once a second. */
const resultTtlMs = 1_000;

export function createReadinessCheck(database: DatabaseReadiness): CheckReadiness {
  const findFault = createQuery(database);
  const latest = new CachedFor<Readiness>(resultTtlMs, 1);
  return () => latest.get("", () => readinessOf(findFault));
}

function readinessOf(findFault: () => Promise<Fault | undefined>): Promise<Readiness> {
  return findFault().then(
    (fault) => (fault === undefined ? { status: "ready", database: "ok" } : { status: "unavailable", database: fault }),
    () => ({ status: "unavailable", database: "unreachable" }),
  );
}

/** Runs one query at a time. If it times out, the last positive answer holds for `database.trustMs`. */
function createQuery(database: DatabaseReadiness): () => Promise<Fault | undefined> {
  let pending: Promise<Fault | undefined> | undefined;
  let soundAt = Number.NEGATIVE_INFINITY;
  const ask = async (): Promise<Fault | undefined> => {
    try {
      const fault = await database.findFault();
      if (fault === undefined) soundAt = performance.now();
      return fault;
    } catch (error) {
      soundAt = Number.NEGATIVE_INFINITY;
      throw error;
    } finally {
      pending = undefined;
    }
  };
  return async () => {
    pending ??= ask();
    const timedOut = (error: unknown): undefined => {
      if (performance.now() - soundAt >= database.trustMs) throw error;
    };
    return withTimeout(pending, checkTimeoutMs, "The database").catch(timedOut);
  };
}
