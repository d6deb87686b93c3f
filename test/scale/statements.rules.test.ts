import { beforeAll, expect, test } from "vitest";
import { testDatabase } from "../support/app.js";
import { findViolations } from "../support/citus/violations.js";

const accepted = [
  `SELECT 1`,
  `SET LOCAL lock_timeout = '1s'`,
  `SELECT set_config('lock_timeout', $1, true), clock_timestamp()::text AS now`,
  `SELECT id FROM "AccessToken" WHERE hash = $1`,
  `SELECT now()::text, id FROM "Store" WHERE id = $1`,
  `SELECT "public"."Product"."id"::text FROM "public"."Product" WHERE ("public"."Product"."storeId" = $1 AND 1 = 1)`,
  `SELECT * FROM "Product" p JOIN "ProductSite" s ON s."storeId" = p."storeId" WHERE p."storeId" = $1`,
  `SELECT * FROM "Product" p WHERE p."storeId" = $1 AND NOT EXISTS (SELECT 1 FROM "ProductSite" s WHERE s."storeId" = p."storeId")`,
  `WITH s AS (SELECT id FROM "Site" WHERE "storeId" = $1) SELECT * FROM s UNION ALL SELECT id FROM "Product" WHERE "storeId" = $1`,
  `INSERT INTO "Product" AS p ("id", "storeId") VALUES ($1, $2), ($3, $2)
      ON CONFLICT ("storeId", id) DO UPDATE SET title = EXCLUDED.title || p.title RETURNING "id"`,
  `INSERT INTO "ProductSite" ("storeId", "productId") SELECT o.id, u FROM "Store" AS o, unnest($2::text[]) u WHERE o.id = $1
      ON CONFLICT DO NOTHING`,
  `INSERT INTO "Site" ("storeId", id) WITH s AS (SELECT id FROM "Store" WHERE id = $1) SELECT o.id, s.id FROM "Store" AS o, s
      WHERE o.id = $1`,
  `UPDATE "Product" SET title = $2 WHERE "storeId" = $1 AND id = $3`,
  `DELETE FROM "Store" WHERE id = $1`,
  `ANALYZE "Product", "ProductSite"`,
  `BEGIN`,
  `ROLLBACK`,
  `SET LOCAL lock_timeout = '1s'`,
  `DISCARD PLANS`, // listed by name
  `DECLARE "exported" NO SCROLL CURSOR FOR SELECT * FROM "Product" p WHERE p."storeId" = $1 ORDER BY p.id`,
  `FETCH 1000 FROM "exported"`,
  `/* of a test */ SELECT * FROM "Product"`,
  // What these use is IMMUTABLE, or on no table of nodes, or worked out once since no column is in it.
  `INSERT INTO "Product" AS p ("id", "storeId") VALUES ($1, $2) ON CONFLICT ("storeId", id)
      DO UPDATE SET title = p.id::varchar WHERE p."updatedAt" < EXCLUDED."updatedAt" RETURNING "id"::text, available::text`,
  `INSERT INTO "Site" ("storeId", id) SELECT o.id, u FROM "Store" AS o, unnest($2::text[]) AS u WHERE o.id = $1`,
  `INSERT INTO "Staging" SELECT now()::text RETURNING clock_timestamp()::text`,
  `DELETE FROM "IdempotencyKey" WHERE "storeId" = $1 AND "createdAt" <= now() - $2::interval`,
  `UPDATE "Product" SET "updatedAt" = now() WHERE "storeId" = $1`,
  `DELETE FROM "LiveStreamMinute" p WHERE "storeId" = $1 AND NOT EXISTS (SELECT FROM "ShowEvent" s
    WHERE "storeId" = $1 AND date_trunc('minute', "occurredAt", $2) = p.minute)`,
  // Joins with temporary tables, subqueries that stand by themselves, and those of one kind of table.
  `SELECT s.id FROM "Staging" s LEFT JOIN "Product" p ON p."storeId" = $1 AND p.id = s.id LEFT JOIN "Staging" t ON t.id = p.id`,
  `SELECT s.id FROM "Staging" s WHERE id IN (SELECT id FROM "Product" WHERE "storeId" = $1)`,
  `SELECT p.id FROM "Product" p WHERE p."storeId" = $1 AND p.id IN (SELECT id FROM "Staging")`,
  `SELECT s.id FROM "Staging" s CROSS JOIN LATERAL (SELECT sku FROM "Product" WHERE "storeId" = $1 AND id = s.id LIMIT 1) p`,
  `WITH s AS (SELECT id FROM "Staging") SELECT p.id FROM "Product" p
      WHERE p."storeId" = $1 AND EXISTS (SELECT FROM s WHERE s.id = p.id)`,
  `INSERT INTO "ProductSite" ("storeId", "productId", "siteId") SELECT o.id, s.id, 'de'
      FROM "Store" AS o, (SELECT id FROM "Staging" WHERE NOT failed) s WHERE o.id = $1`,
  `SELECT s.id FROM "Staging" s JOIN "Product" p ON p."storeId" = $1 AND p.id = s.id
      WHERE EXISTS (SELECT FROM "Site" x WHERE x."storeId" = $1 AND x.id = s.id)`,
  `SELECT s.id FROM "Staging" s WHERE EXISTS (SELECT FROM "AccessToken" a WHERE a.id = s.id)`,
];

const unrestricted = "is not restricted to one storeId";
const rejected: readonly (readonly [sql: string, violations: readonly string[]])[] = [
  [`SELECT * FROM "Product" WHERE id = $1`, [`SELECT on Product ${unrestricted}`]],
  [`DECLARE "exported" CURSOR FOR SELECT * FROM "Product"`, [`SELECT on Product ${unrestricted}`]],
  [`SELECT count(*) FROM "Store"`, ["SELECT on Store is not restricted to one id"]],
  [`SELECT * FROM "Product" WHERE "storeId" = $1 OR id = $2`, [`SELECT on Product ${unrestricted}`]],
  [`SELECT * FROM "Product" WHERE "storeId" > $1`, [`SELECT on Product ${unrestricted}`]],
  [`SELECT * FROM "Product" WHERE "storeId" = ANY($1)`, [`SELECT on Product ${unrestricted}`]],
  [
    `SELECT * FROM "Product" p JOIN "ProductSite" s ON s."productId" = p.id WHERE p."storeId" = $1`,
    [`SELECT on ProductSite ${unrestricted}`],
  ],
  [
    `SELECT * FROM "Product" p WHERE p."storeId" = $1 AND EXISTS (SELECT 1 FROM "ProductSite" s WHERE s."siteId" = $2)`,
    [`SELECT on ProductSite ${unrestricted}`],
  ],
  [
    `WITH s AS (SELECT id FROM "Site") SELECT * FROM s UNION ALL SELECT id FROM "Product"`,
    [`SELECT on Product ${unrestricted}`, `SELECT on Site ${unrestricted}`],
  ],
  [`UPDATE "Product" SET title = $1 WHERE id = $2`, [`UPDATE on Product ${unrestricted}`]],
  [
    `SELECT CASE channel WHEN 'LIVE' THEN 1 END FROM "LiveStreamTotal" WHERE "storeId" = $1`,
    ["CASE compares a value: use CASE WHEN … = …"],
  ],
  [`UPDATE "Product" SET "storeId" = $1 WHERE "storeId" = $2`, ["UPDATE changes Product.storeId"]],
  [`DELETE FROM "Product"`, [`DELETE on Product ${unrestricted}`]],
  [`INSERT INTO "Product" (id) VALUES ($1)`, ["INSERT INTO Product does not give its storeId"]],
  [
    `INSERT INTO "Site" ("storeId") SELECT o.id FROM "Store" AS o, unnest($1::text[])`,
    ["SELECT on Store is not restricted to one id", "INSERT INTO Site does not give its storeId"],
  ],
  [`INSERT INTO "Site" ("storeId") SELECT u FROM unnest($1::text[]) u`, ["INSERT INTO Site does not give its storeId"]],
  [
    `INSERT INTO "Product" ("storeId") VALUES ($1) ON CONFLICT DO NOTHING`,
    ["ON CONFLICT of Product names no primary key"],
  ],
  [
    `INSERT INTO "Site" ("storeId") VALUES ($1) ON CONFLICT ("storeId", id) DO UPDATE SET "storeId" = $1, type = now()::text
        RETURNING jsonb_build_object('a', id), CURRENT_TIMESTAMP`,
    [
      "ON CONFLICT changes Site.storeId",
      "ON CONFLICT of Site uses now, which is STABLE",
      "ON CONFLICT of Site uses timestamptz_out, which is STABLE",
      "RETURNING of Site uses jsonb_build_object, which is STABLE",
      "RETURNING of Site uses the time or the user, which is STABLE",
    ],
  ],
  [
    `INSERT INTO "IdempotencyKey" AS k ("storeId", key) VALUES ($1, $2) ON CONFLICT ("storeId", key, field)
        DO UPDATE SET answer = EXCLUDED.answer WHERE k."createdAt" <= EXCLUDED."createdAt" - $3::interval`,
    ["ON CONFLICT of IdempotencyKey uses timestamptz_mi_interval, which is STABLE"],
  ],
  [
    `INSERT INTO "Site" ("storeId", id) SELECT $1::text, u FROM unnest($2::text[]) u`,
    ["INSERT INTO Site is pulled to the coordinator: take its storeId from a row of its node"],
  ],
  [
    `WITH s AS (SELECT id FROM "Product" WHERE "storeId" = $1)
        INSERT INTO "Site" ("storeId", id) SELECT o.id, s.id FROM "Store" AS o, s WHERE o.id = $1`,
    ["INSERT INTO Site comes after WITH: Citus does not rewrite it"],
  ],
  [
    `WITH w AS (INSERT INTO "Site" ("storeId", id) SELECT o.id, u FROM "Store" AS o, unnest($2::text[]) u WHERE o.id = $1
        ON CONFLICT ("storeId", id) DO UPDATE SET type = random()::text RETURNING id) SELECT * FROM w`,
    ["ON CONFLICT of Site uses random, which is VOLATILE"],
  ],
  [
    `DELETE FROM "Product" WHERE "storeId" = $1 RETURNING clock_timestamp(), "createdAt"::text`,
    [
      "RETURNING of Product uses clock_timestamp, which is VOLATILE",
      "RETURNING of Product uses timestamptz_out, which is STABLE",
    ],
  ],
  [
    `UPDATE "AccessToken" SET label = $1 WHERE id = $2 RETURNING "createdAt"::text`,
    ["RETURNING of AccessToken uses timestamptz_out, which is STABLE"],
  ],
  [
    `UPDATE "Product" SET "createdAt" = "createdAt" - $2::interval, "updatedAt" = clock_timestamp() WHERE "storeId" = $1`,
    [
      "UPDATE of Product uses clock_timestamp, which is VOLATILE",
      "UPDATE of Product uses timestamptz_mi_interval, which is STABLE, on a column",
    ],
  ],
  [
    `DELETE FROM "IdempotencyKey" WHERE "storeId" = $1 AND "createdAt" + $2::interval <= now()`,
    ["DELETE of IdempotencyKey uses timestamptz_pl_interval, which is STABLE, on a column"],
  ],
  [
    `INSERT INTO "Site" ("storeId", id) VALUES ($1, $2) ON CONFLICT ("storeId", id) DO UPDATE SET type = (SELECT $3::text)`,
    ["INSERT INTO Site has a subquery in ON CONFLICT or RETURNING"],
  ],
  [
    `DELETE FROM "Product" p WHERE "storeId" = $1
      AND EXISTS (SELECT FROM "ProductSite" s WHERE s."storeId" = p."storeId" AND random() > 0.5)`,
    ["DELETE of Product uses random, which is VOLATILE"],
  ],
  [`SET CONSTRAINTS ALL DEFERRED`, ["ConstraintsSetStmt is not known to work on Citus"]],
  [`SET lock_timeout = '1s'`, ["VariableSetStmt is not known to work on Citus"]],
  [`LOCK TABLE "Product"`, ["LockStmt is not known to work on Citus"]],
  [`CREATE TABLE "Kept" (id text)`, ["CreateStmt is not known to work on Citus"]],
  [`SELECT * FROM "Nowhere"`, ['Error: relation "Nowhere" does not exist']],
];

/** As tried on Citus 13.2, which says "direct joins between distributed and local tables are not supported". */
const correlated = [
  `SELECT s.id FROM "Staging" s WHERE EXISTS (SELECT FROM "Product" p WHERE p."storeId" = $1 AND p.id = s.id)`,
  `SELECT s.id, (SELECT sku FROM "Product" p WHERE p."storeId" = $1 AND p.id = s.id) FROM "Staging" s`,
  `SELECT p.id FROM "Product" p WHERE p."storeId" = $1 AND EXISTS (SELECT FROM "Staging" s WHERE s.id = p.id)`,
  `SELECT s.id FROM "Staging" s JOIN "Product" p ON p."storeId" = $1 AND p.sku = s.id
      WHERE NOT EXISTS (SELECT FROM "Staging" t WHERE t.id = s.id AND t.failed)`,
  `INSERT INTO "Staging" SELECT s.id, NOT EXISTS (SELECT FROM "Staging" t WHERE t.id = p.id)
      FROM "Staging" s JOIN "Product" p ON p."storeId" = $1 AND p.sku = s.id`,
  `SELECT s.id FROM "Staging" s WHERE EXISTS (SELECT FROM unnest($2::text[]) u
      WHERE EXISTS (SELECT FROM "Product" p WHERE p."storeId" = $1 AND p.id = s.id))`,
  `UPDATE "Staging" s SET failed = true WHERE EXISTS (SELECT FROM "Product" p WHERE p."storeId" = $1 AND p.id = s.id)`,
  `DELETE FROM "Product" p WHERE p."storeId" = $1 AND EXISTS (SELECT FROM "Staging" s WHERE s.id = p.id)`,
];

const staging = `CREATE TEMPORARY TABLE "Staging" (id text COLLATE "C", failed boolean) ON COMMIT DROP`;
let found: Record<string, string[]>;
beforeAll(async () => {
  const database = testDatabase();
  const statements = [staging, ...accepted, ...rejected.map(([sql]) => sql), ...correlated];
  found = await findViolations(database.client, statements);
  await database.close();
});

test.each(accepted)("accepts %s", (sql) => {
  expect(found[sql]).toBeUndefined();
});

test.each(rejected)("rejects %s", (sql, violations) => {
  expect(found[sql]?.toSorted()).toEqual(violations.toSorted());
});

test.each(correlated)("rejects %s", (sql) => {
  expect(found[sql]).toEqual(["a correlated subquery stands between a temporary table and one that is on nodes"]);
});
