import type pg from "pg";

const planAgeMaxMs = 3_000;

/**
 * Has the plans of prepared statements made again every few seconds. PostgreSQL itself does that only after ANALYZE:
 * until then a plan for a table of some rows, which are read one after the other, would be used for the thousands that
 * come in the first minute of a show.
 */
export function limitPlanAge(pool: pg.Pool, ageMaxMs = planAgeMaxMs): void {
  const madeAt = new WeakMap<pg.PoolClient, number>();
  pool.on("acquire", (client) => {
    const now = performance.now();
    const before = madeAt.get(client);
    if (before !== undefined && now - before < ageMaxMs) return;
    madeAt.set(client, now);
    // The next statement waits for it in the client's queue, and reports what is wrong with the connection.
    if (before !== undefined) void client.query("DISCARD PLANS").catch(() => undefined);
  });
}
