/** Each node of Citus has the catalog. */
export const hasCitus = "to_regclass('pg_dist_partition') IS NOT NULL";

export const isOnCitus = `SELECT ${hasCitus} AS "isOnCitus"`;
