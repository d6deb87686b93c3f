/**
 * A stand-in for Citus, which cannot be installed where these tests run: its catalog and its two functions, as far as
 * Vitrine uses them. They move no rows. They write down what they are asked, and refuse what Citus is known to refuse:
 * tables that are spread already, keys without the distribution column, foreign keys to what is not laid beside it.
 */
export const citusStandIn = `
CREATE TABLE pg_dist_partition (logicalrelid regclass PRIMARY KEY, partmethod "char" NOT NULL, partkey text);
CREATE TABLE stand_in_calls (number serial, call text NOT NULL);

CREATE FUNCTION create_distributed_table(table_name regclass, distribution_column text, distribution_type text DEFAULT 'hash',
  colocate_with text DEFAULT 'default', shard_count int DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stand_in_calls (call) VALUES (format('distributed %s by %s beside %s', table_name, distribution_column, colocate_with));
  IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = table_name) THEN
    RAISE EXCEPTION 'table % is already distributed', table_name;
  END IF;
  IF colocate_with <> 'none' AND NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = colocate_with::regclass) THEN
    RAISE EXCEPTION 'relation % is not distributed', colocate_with;
  END IF;
  IF EXISTS (SELECT FROM pg_index WHERE indrelid = table_name AND indisunique AND NOT (SELECT attnum = ANY(indkey::int2[])
      FROM pg_attribute WHERE attrelid = table_name AND attname = distribution_column)) THEN
    RAISE EXCEPTION 'cannot create constraint on %: it does not include the partition column', table_name;
  END IF;
  IF EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND table_name IN (conrelid, confrelid)
      AND (condeferrable OR NOT EXISTS (SELECT FROM pg_dist_partition
        WHERE logicalrelid IN (conrelid, confrelid) AND logicalrelid <> table_name))) THEN
    RAISE EXCEPTION 'cannot create foreign key constraint of %', table_name;
  END IF;
  INSERT INTO pg_dist_partition VALUES (table_name, 'h', distribution_column);
END $$;

CREATE FUNCTION create_reference_table(table_name regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stand_in_calls (call) VALUES (format('reference %s', table_name));
  IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = table_name) THEN
    RAISE EXCEPTION 'table % is already distributed', table_name;
  END IF;
  INSERT INTO pg_dist_partition VALUES (table_name, 'n', NULL);
END $$;`;
