/** Versioned, because servers of two versions may run at the same time. */
export const onNodeFunction = "vitrine_on_node_3";

/** Part of the message, with code 55P03, while a move blocks writes to the store's shard. */
export const beingMoved = "is being moved to another node";

const signature = `${onNodeFunction}(text, text, text[], text[])`;

const isMade = `to_regprocedure('${signature}') IS NOT NULL`;
/** Whether this role may call it: only owners of the tables may take its lock. */
export const canRunOnNode = `(${isMade}
  AND (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('"Store"')))`;

/** @param read runs a statement with the caller's client */
export async function hasOnNodeFunction(read: (sql: string) => Promise<readonly { isMade: boolean }[]>) {
  const [row] = await read(`SELECT ${isMade} AS "isMade"`);
  return row?.isMade === true;
}

/**
 * Runs a statement on a store's shards without the planner of Citus. That planner would split a statement that inserts in its
 * WITH, and send the results through the coordinator.
 *
 * Citus calls it on the store's node. It takes the lock that Citus takes for a write and that moving or splitting a shard
 * excludes, and fails as Citus does if the store has just moved away. Only settings of the caller's transaction reach the node;
 * without one, lock_timeout is as in open.ts. A caller with a lock_timeout over 5 seconds waits for a move that long; others are
 * refused immediately, and wait without a connection (storeStatements.ts).
 *
 * - `statement`: its parameters are the texts `($1)[1]`, `($1)[2]` and so on
 * - `tables`: names that the statement quotes with `"`
 */
const createOnNodeFunction = `
CREATE OR REPLACE FUNCTION ${onNodeFunction}(store text, statement text, tables text[], parameters text[])
RETURNS SETOF jsonb LANGUAGE plpgsql SET citus.enable_manual_changes_to_shards = on SET jit = off AS $on_node$
DECLARE
  shard bigint := get_shard_id_for_distribution_column('"Store"', store);
  share_lock CONSTANT int := 5;
  "lockLimit" text;
  target regclass;
  answer record;
BEGIN
  IF current_setting('lock_timeout') = '0' THEN PERFORM set_config('lock_timeout', '2s', true); END IF;
  "lockLimit" := current_setting('lock_timeout');
  IF "lockLimit"::interval <= '5s' THEN PERFORM set_config('lock_timeout', '100ms', true); END IF;
  BEGIN
    PERFORM lock_shard_metadata(share_lock, ARRAY[shard]);
  EXCEPTION WHEN lock_not_available THEN
    RAISE EXCEPTION 'store % ${beingMoved}', store USING ERRCODE = '55P03';
  END;
  PERFORM set_config('lock_timeout', "lockLimit", true);
  IF NOT EXISTS (SELECT FROM pg_dist_placement JOIN pg_dist_local_group USING (groupid) WHERE shardid = shard) THEN
    RAISE EXCEPTION 'could not find valid entry for shard %', shard USING ERRCODE = 'XX000';
  END IF;
  FOREACH target IN ARRAY tables LOOP
    statement := replace(statement, target::text,
      shard_name(target, get_shard_id_for_distribution_column(target, store)));
  END LOOP;
  FOR answer IN EXECUTE statement USING parameters LOOP
    RETURN NEXT to_jsonb(answer);
  END LOOP;
END
$on_node$`;

/** Create the function on all nodes. `force_delegation`, because Citus would not delegate it in a transaction of several statements. */
export const onNodeStatements: readonly string[] = [
  createOnNodeFunction,
  `SELECT create_distributed_function('${signature}', 'store', colocate_with => '"Store"', force_delegation => true)`,
];
