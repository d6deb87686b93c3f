import type pg from "pg";

export const planAgeMaxMs = 3_000;

/**
 * Renews the plans of prepared statements every few seconds. PostgreSQL does so only after ANALYZE: until then a plan
 * for a table of some rows, read one after the other, would serve the thousands that come in the first minute of a
 * show.
 */
export function limitPlanAge(pool: pg.Pool, ageMaxMs = planAgeMaxMs): void {
  const madeAt = new WeakMap<pg.PoolClient, number>();
  pool.on("acquire", (client) => {
    const now = performance.now();
    const before = madeAt.get(client);
    if (before !== undefined && now - before < ageMaxMs) return;
    madeAt.set(client, now);
    // The client's next statement waits for it, and reports what is wrong with the connection.
    if (before !== undefined) void client.query("DISCARD PLANS").catch(() => undefined);
  });
}
