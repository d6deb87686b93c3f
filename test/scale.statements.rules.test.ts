import { describe, expect, test } from "vitest";
import { statementBreaches } from "./support/citus/statementRules.js";

const tables = ["Store", "Product", "Site", "ProductSite"];
const breaches = (sql: string) => statementBreaches(sql, tables);

describe("what is tied to one store passes", () => {
  test.each([
    `SELECT 1`,
    `SELECT set_config('lock_timeout', $1, true), clock_timestamp()::text AS now`,
    `SELECT id FROM "AccessToken" WHERE hash = $1`,
    `SELECT now()::text, id FROM "Store" WHERE id = $1`,
    `SELECT "public"."Product"."id"::text FROM "public"."Product" WHERE ("public"."Product"."storeId" = $1 AND 1 = 1)`,
    `SELECT * FROM "Product" p JOIN "ProductSite" s ON s."storeId" = p."storeId" WHERE p."storeId" = $1`,
    `SELECT * FROM "Product" p WHERE p."storeId" = $1 AND NOT EXISTS (SELECT 1 FROM "ProductSite" s WHERE s."storeId" = p."storeId")`,
    `WITH s AS (SELECT id FROM "Site" WHERE "storeId" = $1) SELECT * FROM s UNION ALL SELECT id FROM "Product" WHERE "storeId" = $1`,
    `INSERT INTO "Product" AS p ("id", "storeId") VALUES ($1, $2), ($3, $2)
      ON CONFLICT ("storeId", id) DO UPDATE SET title = EXCLUDED.title || p.title RETURNING "id"`,
    `INSERT INTO "ProductSite" ("storeId", "productId") SELECT $1::text, u FROM unnest($2::text[]) u ON CONFLICT DO NOTHING`,
    `UPDATE "Product" SET title = $2 WHERE "storeId" = $1 AND id = $3`,
    `DELETE FROM "Store" WHERE id = $1`,
    `CREATE TEMPORARY TABLE "Staging" (id text) ON COMMIT DROP`,
  ])("%s", async (sql) => {
    expect(await breaches(sql)).toEqual([]);
  });
});

describe("what is not is found", () => {
  const untied = "is not tied to one storeId";
  test.each([
    [`SELECT * FROM "Product" WHERE id = $1`, [`SELECT on Product ${untied}`]],
    [`SELECT count(*) FROM "Store"`, ["SELECT on Store is not tied to one id"]],
    [`SELECT * FROM "Product" WHERE "storeId" = $1 OR id = $2`, [`SELECT on Product ${untied}`]],
    [`SELECT * FROM "Product" WHERE "storeId" > $1`, [`SELECT on Product ${untied}`]],
    [`SELECT * FROM "Product" WHERE "storeId" = ANY($1)`, [`SELECT on Product ${untied}`]],
    [
      `SELECT * FROM "Product" p JOIN "ProductSite" s ON s."productId" = p.id WHERE p."storeId" = $1`,
      [`SELECT on ProductSite ${untied}`],
    ],
    [
      `SELECT * FROM "Product" p WHERE p."storeId" = $1 AND EXISTS (SELECT 1 FROM "ProductSite" s WHERE s."siteId" = $2)`,
      [`SELECT on ProductSite ${untied}`],
    ],
    [
      `WITH s AS (SELECT id FROM "Site") SELECT * FROM s UNION ALL SELECT id FROM "Product"`,
      [`SELECT on Product ${untied}`, `SELECT on Site ${untied}`],
    ],
    [`UPDATE "Product" SET title = $1 WHERE id = $2`, [`UPDATE on Product ${untied}`]],
    [`UPDATE "Product" SET "storeId" = $1 WHERE "storeId" = $2`, ["UPDATE changes Product.storeId"]],
    [`DELETE FROM "Product"`, [`DELETE on Product ${untied}`]],
    [`INSERT INTO "Product" (id) VALUES ($1)`, ["INSERT INTO Product does not give its storeId"]],
    [
      `INSERT INTO "Site" ("storeId") SELECT u FROM unnest($1::text[]) u`,
      ["INSERT INTO Site does not give its storeId"],
    ],
    [
      `INSERT INTO "Product" ("storeId") VALUES ($1) ON CONFLICT DO NOTHING`,
      ["ON CONFLICT of Product names no primary key"],
    ],
    [
      `INSERT INTO "Site" ("storeId") VALUES ($1) ON CONFLICT ("storeId", id) DO UPDATE SET "storeId" = $1, type = now()::text
        RETURNING jsonb_build_object('a', id), id::text, CURRENT_TIMESTAMP`,
      [
        "ON CONFLICT changes Site.storeId",
        "ON CONFLICT of Site casts to text",
        "ON CONFLICT of Site calls now",
        "RETURNING of Site calls jsonb_build_object",
        "RETURNING of Site casts to text",
        "RETURNING of Site asks for the time",
      ],
    ],
    [
      `DELETE FROM "Site" WHERE "storeId" = $1 RETURNING clock_timestamp()`,
      ["RETURNING of Site calls clock_timestamp"],
    ],
  ])("%s", async (sql, expected) => {
    expect((await breaches(sql)).toSorted()).toEqual(expected.toSorted());
  });
});
