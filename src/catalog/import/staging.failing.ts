import type { Database } from "../../database/client.js";
import { Prisma } from "../../generated/prisma/client.js";
import type { RowSource } from "../product.sql.js";

/** Staged rows that do not fail. */
export const validRows: RowSource = Prisma.sql`(SELECT * FROM "ProductStaging" WHERE NOT failed) s`;

/**
 * Lets staged rows fail that are wrong by themselves, of which only the keys were staged, and those whose id or sku stands
 * in another row too. One statement for each: joined by OR they would compare each row with each.
 */
export async function failInvalidAndDuplicates(transaction: Database): Promise<void> {
  await transaction.$executeRaw`UPDATE "ProductStaging" SET failed = true WHERE title IS NULL`;
  await transaction.$executeRaw`
    UPDATE "ProductStaging" SET failed = true WHERE NOT failed AND id IN (
      SELECT id FROM "ProductStaging" WHERE id IS NOT NULL GROUP BY id HAVING count(*) > 1)`;
  await transaction.$executeRaw`
    UPDATE "ProductStaging" SET failed = true WHERE NOT failed AND sku IN (
      SELECT sku FROM "ProductStaging" WHERE sku IS NOT NULL GROUP BY sku HAVING count(*) > 1)`;
}

/**
 * Lets staged rows fail whose sku is held by a collected product that keeps it: no row replaces that product, or its row fails,
 * and so on from row to row. Each row looks at the one it depends on; then, at the one on which that one depends: so each
 * round doubles how far they see, and chains of any length take few statements. Those that go round, as when products
 * exchange their skus, have no end that fails.
 */
export async function failDependents(transaction: Database): Promise<void> {
  await transaction.$executeRaw`
    CREATE TEMPORARY TABLE "ProductClaim" (
      line int NOT NULL, id text COLLATE "C" NOT NULL, holder text COLLATE "C" NOT NULL, failed boolean NOT NULL)
      ON COMMIT DROP`;
  const claims = await transaction.$executeRaw`
    INSERT INTO "ProductClaim" (line, id, holder, failed)
    SELECT s.line, s.id, h.id, NOT EXISTS (SELECT FROM "ProductStaging" t WHERE t.id = h.id AND NOT t.failed)
    FROM ${validRows} JOIN "ProductHolder" h ON h.sku = s.sku AND h.id <> s.id`;
  if (claims === 0) return;
  for (;;) {
    const failedNow = await transaction.$executeRaw`
      UPDATE "ProductClaim" c SET failed = true FROM "ProductClaim" d WHERE d.id = c.holder AND d.failed AND NOT c.failed`;
    if (failedNow === 0) break;
    await transaction.$executeRaw`
      UPDATE "ProductClaim" c SET holder = d.holder FROM "ProductClaim" d WHERE d.id = c.holder AND NOT c.failed`;
  }
  await transaction.$executeRaw`
    UPDATE "ProductStaging" s SET failed = true FROM "ProductClaim" c WHERE c.failed AND c.line = s.line`;
}

/** How many rows fail that are not wrong by themselves. */
export async function countFailing(transaction: Database): Promise<number> {
  const [row] = await transaction.$queryRaw<[{ total: number }]>`
    SELECT count(*)::int AS total FROM "ProductStaging" WHERE failed AND title IS NOT NULL`;
  return row.total;
}

/** Ids and skus of staged rows, by line. */
export async function keysOf(transaction: Database, lines: readonly number[]) {
  const rows = await transaction.$queryRaw<{ line: number; id: string | null; sku: string | null }[]>`
    SELECT line, id, sku FROM "ProductStaging" WHERE line = ANY(${lines}::int[])`;
  return new Map(rows.map(({ line, id, sku }) => [line, { id, sku }]));
}
