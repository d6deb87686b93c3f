// @engine postgresql
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { listProducts } from "../../../../src/catalog/product/list/product.list.js";
import { storeMark } from "../../../../src/catalog/product/search/product.searchIndex.js";
import type { Database } from "../../../../src/database/client.js";
import { Prisma } from "../../../../src/generated/prisma/client.js";
import { createTestStore, openTestApp, startApp, testDatabase, type TestStore } from "../../../support/app.js";
import { ofTest } from "../../../support/citus/recording.js";
import { importedAnswer, paths, products } from "../../../support/products.js";

const productsTotal = 20_000;
/** Others get their turn in between, where the database has one session. */
const batchRows = 1_000;

const app = await openTestApp();
const store = await createTestStore(app);
beforeAll(async () => {
  const other = await createTestStore(app);
  await fill(store, Prisma.sql`CASE n WHEN 19500 THEN ' unicorn' WHEN 19600 THEN ' linen' ELSE '' END`);
  await fill(other, Prisma.sql`' unicorn linen'`);
});

/** Products that all have the word "shirt", each tenth "wool", those at the end "late", and others as given. */
async function fill({ id }: TestStore, more: Prisma.Sql): Promise<void> {
  for (let start = 0; start < productsTotal; start += batchRows) {
    await app.db.$executeRaw`${Prisma.raw(ofTest(""))}
      INSERT INTO "Product" ("storeId", id, sku, title, available, images, "featuredImage", url, "searchWords", "createdAt", "updatedAt")
      SELECT ${id}, 'p' || lpad(n::text, 5, '0'), 's' || n, 'Shirt', n % 2 = 0, '{}', '', '', replace(
        ' shirt' || CASE WHEN n % 10 = 0 THEN ' wool' ELSE '' END || CASE WHEN n > 19000 THEN ' late' ELSE '' END
          || ${more}, ' ', ${` ${storeMark(id)}`})::tsvector, now(), now()
      FROM generate_series(${start + 1}::int, ${start + batchRows}::int) AS n`;
  }
  await app.db.$executeRaw`${Prisma.raw(ofTest(""))} SELECT gin_clean_pending_list('"Product_search_idx"'::regclass)`;
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The scans of a search: what of, and how many rows each looked at. */
async function scansOf(filter: Parameters<typeof listProducts>[2]) {
  const scans: { of: string; rows: number }[] = [];
  const collect = (node: PlanNode): void => {
    const { "Node Type": type, "Index Name": index, "Actual Rows": rows, "Rows Removed by Filter": removed = 0 } = node;
    if (type.endsWith("Scan") && type !== "Subquery Scan") scans.push({ of: index ?? type, rows: rows + removed });
    for (const child of node.Plans ?? []) collect(child);
  };
  const $queryRaw = async (strings: TemplateStringsArray, ...values: unknown[]) => {
    const statement = Prisma.sql(strings, ...values);
    const [explained] = await app.db.$queryRaw<[{ "QUERY PLAN": [{ Plan: PlanNode }] }]>`${Prisma.raw(ofTest(""))}
      EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`;
    collect(explained["QUERY PLAN"][0].Plan);
    return app.db.$queryRaw(statement);
  };
  const explaining = new Proxy(app.db, {
    get: (db, name) => (name === "$queryRaw" ? $queryRaw : Reflect.get(db, name)),
  }) satisfies Database;
  const { nodes } = await listProducts(explaining, store.id, filter);
  return { scans, found: nodes.length };
}

const nearby = { of: "Product_pkey", rows: 250 };

test.each([
  ["rare", "unicorn"],
  ["rare here, and frequent in another store", "linen"],
  ["that no product has", "boots"],
])("a word that is %s is looked up in the search index, by the entries of its store only", async (_, search) => {
  const found = search === "boots" ? 0 : 1;
  for (const filter of [{}, { after: { id: "p00007", value: "" } }, { available: true }]) {
    expect(await scansOf({ first: 20, search, ...filter })).toEqual({
      found,
      scans: [nearby, { of: "Bitmap Heap Scan", rows: found }, { of: "Product_search_idx", rows: found }],
    });
  }
});

test("a frequent word fills its page from the next products in order, without the search index", async () => {
  expect(await scansOf({ first: 20, search: "shirt" })).toEqual({
    found: 20,
    scans: [{ of: "Product_pkey", rows: 21 }],
  });
  expect(await scansOf({ first: 20, search: "sh", after: { id: "p15000", value: "" }, available: false })).toEqual({
    found: 20,
    scans: [{ of: "Product_pkey", rows: 41 }],
  });
});

test("a word that the next products nearly fill a page with is searched for a little further", async () => {
  expect(await scansOf({ first: 50, search: "wool" })).toEqual({
    found: 50,
    scans: [nearby, { of: "Product_pkey", rows: 510 }],
  });
});

test("a frequent word that the next products lack costs as much as there are products with it", async () => {
  expect(await scansOf({ first: 20, search: "late" })).toEqual({
    found: 20,
    scans: [nearby, { of: "Bitmap Heap Scan", rows: 1_000 }, { of: "Product_search_idx", rows: 1_000 }],
  });
});

test("of many words the longest are looked up in the search index, and all of them are compared", async () => {
  expect(await scansOf({ first: 20, search: "shirt wool late unicorn" })).toEqual({
    found: 1,
    scans: [nearby, { of: "Bitmap Heap Scan", rows: 1 }, { of: "Product_search_idx", rows: 1 }],
  });
});

test("what imports of many products wrote is merged into the search index soon after, so that no search reads it beside it", async () => {
  let merges = 0;
  const database = testDatabase((sql) => void (merges += Number(sql.includes("gin_clean_pending_list"))));
  const importing = await startApp({}, database);
  onTestFinished(() => importing.close());
  const own = await createTestStore(importing);
  for (const created of [250, 0, 0, 0]) {
    expect(await own.post(paths.bulk, { products: products(250) })).toEqual(importedAnswer(created, 250 - created));
  }
  await expect.poll(() => merges).toBe(1);
});
