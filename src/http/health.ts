import type { RootDatabase } from "../database/client.js";
import { isMigrated } from "../database/migrations.js";

export interface Readiness {
  readonly status: "ready" | "unavailable";
  readonly database: "ok" | "unreachable" | "not migrated";
}

const checkTimeoutMs = 3_000;

/** Whether requests can be served: the database answers in time and has every migration. It never throws. */
export async function checkReadiness(db: RootDatabase): Promise<Readiness> {
  const unreachable: Readiness = { status: "unavailable", database: "unreachable" };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Readiness>((resolve) => {
    timer = setTimeout(() => resolve(unreachable), checkTimeoutMs);
  });
  const checked = isMigrated(db).then(
    (migrated): Readiness =>
      migrated ? { status: "ready", database: "ok" } : { status: "unavailable", database: "not migrated" },
    () => unreachable,
  );
  return Promise.race([checked, late]).finally(() => clearTimeout(timer));
}
