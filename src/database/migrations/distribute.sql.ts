/**
 * Copied to each node: they are looked up before the store is known, and tell a server connected to a node that it may
 * start.
 */
const referenceTables = `'AccessToken', 'PublicKey', 'Hook', '_prisma_migrations'`;

/** Store comes first: the others are co-located with it. */
export const undistributedTables = `
  SELECT c.relname::text AS name FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
    AND NOT EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid)
    AND (c.relname IN ('Store', ${referenceTables}) OR EXISTS (
      SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'storeId' AND NOT a.attisdropped))
  ORDER BY c.relname <> 'Store', c.relname`;

/**
 * Distributes tables by store. Foreign keys between distributed and other tables are impossible: they are dropped
 * first, and added and checked at the end. Citus cannot move shards that are not logged. Lists are collected first, since no cursor may be open on changing tables.
 */
export const distributeStatement = `DO $distribute$
DECLARE
  targets text[];
  taken text[];
  back text[];
  target text;
  command text;
BEGIN
  targets := ARRAY(${undistributedTables});

  SELECT array_agg(format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) ORDER BY conname),
    array_agg(format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
      ORDER BY conname)
  INTO taken, back
  FROM pg_constraint
  WHERE contype = 'f' AND EXISTS (
    SELECT FROM unnest(targets) AS name WHERE format('%I', name)::regclass IN (conrelid, confrelid));

  FOREACH command IN ARRAY coalesce(taken, '{}') LOOP
    EXECUTE command;
  END LOOP;

  FOREACH target IN ARRAY targets LOOP
    IF (SELECT relpersistence = 'u' FROM pg_class WHERE oid = format('%I', target)::regclass) THEN
      EXECUTE format('ALTER TABLE %I SET LOGGED', target);
    END IF;
    IF target IN (${referenceTables}) THEN
      PERFORM create_reference_table(format('%I', target)::regclass);
    ELSIF target = 'Store' THEN
      PERFORM create_distributed_table(format('%I', target)::regclass, 'id', colocate_with => 'none');
    ELSE
      PERFORM create_distributed_table(format('%I', target)::regclass, 'storeId', colocate_with => '"Store"');
    END IF;
  END LOOP;

  FOREACH command IN ARRAY coalesce(back, '{}') LOOP
    EXECUTE command;
  END LOOP;
END
$distribute$`;
