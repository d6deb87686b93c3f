import type { Database, RootDatabase } from "../../database/client.js";
import { inTransaction } from "../../database/transaction.js";
import { Prisma } from "../../generated/prisma/client.js";
import { readsUnblocked } from "../product/readGate.js";
import type { ExportReader } from "./export.snapshot.js";
import { type ExportFilter, exportedProducts, type ExportFormat, exportLines } from "./export.sql.js";

const rowsPerPage = 500;
const optimisticAttempts = 3;
const timeoutMs = 15 * 60_000;

/** The sum identifies the version of each product. */
interface Digest {
  readonly products: number;
  readonly versions: bigint;
}

interface Page extends Digest {
  readonly lines: string | null;
  readonly lastId: string | null;
}

/**
 * Reads a consistent snapshot in the embedded engine's single session, which an open cursor would block: page by page,
 * in statements of milliseconds, and again if the catalog has then changed. The last attempt is one transaction.
 *
 * @throws the signal's reason once it is aborted
 */
export async function readPages(db: RootDatabase, reader: ExportReader): Promise<void> {
  const { filter, restart } = reader;
  for (let attempt = 1; attempt <= optimisticAttempts; attempt += 1) {
    await readsUnblocked(filter.storeId);
    const read = await readAll(db, reader);
    const stored = await digestOf(db, filter);
    if (stored !== undefined && stored.products === read.products && stored.versions === read.versions) return;
    restart();
  }
  await readsUnblocked(filter.storeId);
  await inTransaction(db, { timeoutMs }, async (transaction) => {
    restart();
    await readAll(transaction, reader);
  });
}

async function readAll(db: Database, { format, filter, take, signal }: ExportReader): Promise<Digest> {
  let products = 0;
  let versions = 0n;
  for (let afterId: string | null = null; ;) {
    signal.throwIfAborted();
    const page: Page = await readPage(db, format, filter, afterId);
    if (page.lines === null) return { products, versions };
    await take(page.lines, page.products);
    products += page.products;
    versions += page.versions;
    afterId = page.lastId;
  }
}

/** Every change of a row changes its `xmin`. */
const digest = Prisma.raw(
  `count(*)::int AS products, coalesce(sum(hashtextextended(p.id, p.version)), 0)::text AS versions`,
);
const version = Prisma.raw(`p.xmin::text::bigint AS version`);

type Row<Value extends Digest> = Omit<Value, "versions"> & { readonly versions: string };

async function readPage(
  db: Database,
  format: ExportFormat,
  filter: ExportFilter,
  afterId: string | null,
): Promise<Page> {
  const after = afterId === null ? Prisma.empty : Prisma.sql`AND p.id > ${afterId}`;
  // A subquery as in product.searchIndex.ts: with a plain limit, the planner would sort the whole catalog for each
  // page.
  const [page] = await db.$queryRaw<[Row<Page>]>`
    SELECT ${digest}, string_agg(p.line, '' ORDER BY p.id) AS lines, max(p.id) AS "lastId" FROM (
      SELECT p.id, ${version}, ${exportLines[format]} AS line ${exportedProducts(filter)} ${after}
      ORDER BY p.id LIMIT (SELECT ${rowsPerPage}::int)) p`;
  return { ...page, versions: BigInt(page.versions) };
}

/** Undefined while an import of another process is partly stored. */
async function digestOf(db: Database, filter: ExportFilter): Promise<Digest | undefined> {
  await readsUnblocked(filter.storeId);
  const [row] = await db.$queryRaw<[Row<Digest> & { isPartial: boolean }]>`
    SELECT ${digest}, EXISTS (SELECT FROM "StagedImport" i WHERE i."storeId" = ${filter.storeId}
      AND i."decidedAt" IS NOT NULL) AS "isPartial"
    FROM (SELECT p.id, ${version} ${exportedProducts(filter)}) p`;
  return row.isPartial ? undefined : { products: row.products, versions: BigInt(row.versions) };
}
