import { onNodeFunction } from "../../../src/database/citus/onNode.sql.js";

/**
 * A stand-in for Citus, which cannot be installed where these tests run: its catalog and its functions, as far as
 * Vitrine uses them. It has one node, where the tables themselves are their shards. They move no rows. They write down what they are asked, and refuse what Citus is known to refuse:
 * tables that are spread already, keys without the distribution column, foreign keys to what is not laid beside it.
 */
export const fakeCitus = `
DROP TABLE IF EXISTS pg_dist_partition, stand_in_calls, pg_dist_placement, pg_dist_local_group, pg_dist_node;
DROP FUNCTION IF EXISTS create_distributed_table, create_reference_table, create_distributed_function,
  get_shard_id_for_distribution_column, shard_name, lock_shard_metadata, master_run_on_worker,
  ${onNodeFunction};

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
END $$;

CREATE TABLE pg_dist_node (nodename text, nodeport int, groupid int, shouldhaveshards bool, isactive bool, noderole text);
CREATE TABLE pg_dist_local_group (groupid int);
CREATE TABLE pg_dist_placement (shardid bigint, groupid int);
INSERT INTO pg_dist_node VALUES ('localhost', 5432, 0, true, true, 'primary');
INSERT INTO pg_dist_local_group VALUES (0);
INSERT INTO pg_dist_placement VALUES (102008, 0);
CREATE FUNCTION get_shard_id_for_distribution_column(regclass, text) RETURNS bigint LANGUAGE sql AS 'SELECT 102008';
CREATE FUNCTION shard_name(name regclass, shard bigint) RETURNS text LANGUAGE sql AS 'SELECT name::text';
CREATE FUNCTION lock_shard_metadata(int, bigint[]) RETURNS void LANGUAGE sql AS 'SELECT pg_advisory_xact_lock_shared($2[1])';
CREATE FUNCTION create_distributed_function(regprocedure, text, colocate_with text, force_delegation bool) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION master_run_on_worker(names text[], ports int[], commands text[], parallel bool)
RETURNS TABLE (node_name text, node_port int, success bool, result text) LANGUAGE plpgsql AS $$
BEGIN
  IF names[1] = 'frozen' THEN PERFORM pg_sleep(60); END IF;
  node_name := names[1];
  node_port := ports[1];
  success := names[1] <> 'down';
  IF success THEN EXECUTE commands[1] INTO result; ELSE result := 'failed to connect to down'; END IF;
  RETURN NEXT;
END $$;`;
