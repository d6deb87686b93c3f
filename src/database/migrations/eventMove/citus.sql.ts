export const distributedEvents = `
  SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('"ShopperEvent"') AND partmethod = 'h') AS is`;

/** A store of each shard that has any. */
export const storeOfEachShard = `
  SELECT min(s."id") AS store FROM "Store" AS s GROUP BY get_shard_id_for_distribution_column('"Store"', s."id")`;

/**
 * With this, Citus makes a trigger on each shard of a table, and makes it again where it moves or splits one. It cannot know that
 * the trigger does nothing unsafe, which is to write to other nodes.
 */
export const allowTriggers = "SET LOCAL citus.enable_unsafe_triggers = on";

/** Tables without rows. Shards of the queue, which has no key, can be moved by logical replication too. */
export function distributeTables(names: readonly string[]): readonly string[] {
  return [
    `ALTER TABLE "EventMoveQueue" REPLICA IDENTITY FULL`,
    ...names.map((name) => `SELECT create_distributed_table('"${name}"', 'storeId', colocate_with => '"Store"')`),
  ];
}

/** The body of the trigger's function, which runs on a shard: the shard of the queue beside it has the same stores. */
export const queueOnShard = `
  DECLARE
    store text := (SELECT "storeId" FROM added LIMIT 1);
  BEGIN
    IF store IS NOT NULL THEN
      EXECUTE format('INSERT INTO %s SELECT "storeId", "liveStreamId", "id" FROM added',
        shard_name('"EventMoveQueue"', get_shard_id_for_distribution_column('"EventMoveQueue"', store)));
    END IF;
    RETURN NULL;
  END`;

/** Whether the coordinator still has the rows from before the tables were distributed, which nobody reads. */
export const hasHiddenShows = `SELECT 1 AS one WHERE pg_relation_size('"LiveStream"') > 0`;

/** Those of tables with foreign keys to it too. They would not get numbers, which all rows are required to have in the end. */
export const removeHiddenShows = `SELECT truncate_local_data_after_distributing_table('"LiveStream"')`;
