import { resolveSite, type SiteReference } from "../../stores/site.js";
import { engineOf } from "../../database/engine.js";
import type { Database, RootDatabase } from "../../database/client.js";
import { asWideRead } from "../../database/shares/forStore.js";
import { FairShare } from "../../lib/fairShare.js";
import { SpillQueue } from "../../lib/streams/spillQueue.js";
import { whenAborted } from "../../lib/timers.js";
import { AppError } from "../../errors.js";
import { exportedProducts, type ExportFilter, type ExportFormat, exportLines, exportOpenings } from "./export.sql.js";
import { inTransaction } from "../../database/transaction.js";
import { Prisma } from "../../generated/prisma/client.js";
import { readsUnblocked } from "../product/product.lookup.js";

const rowsPerFetch = Prisma.raw("1000");

const rowsPerPage = 500;

const optimisticAttempts = 3;

const timeoutMs = 15 * 60_000;

/** Every change of a row changes its `xmin`, from which its version is made. */
const digest = Prisma.raw(
  `count(*)::int AS products, coalesce(sum(hashtextextended(p.id, p.version)), 0)::text AS versions`,
);

const version = Prisma.raw(`p.xmin::text::bigint AS version`);

export interface ExportOptions extends Omit<ExportFilter, "storeId" | "siteId"> {
  readonly site?: SiteReference | undefined;
  readonly onProgress?: ((products: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Bounded, because each open export may have a temporary file as large as a catalog. */
export const exportPlaces = new FairShare({
  places: 16,
  ofStoreMax: 4,
  message: "Too many exports are in progress.",
  retryAfterSeconds: 5,
});

/**
 * Products in the order of their ids, as bytes that an import accepts: one consistent snapshot, in constant memory. A slow consumer
 * does not slow down reading the database. Returning from the generator ends the reading.
 *
 * @throws {AppError} SITE_NOT_FOUND or UNAVAILABLE, before the first piece
 */
export async function* exportProducts(
  db: RootDatabase,
  storeId: string,
  format: ExportFormat,
  { site = {}, signal, onProgress, ...narrowed }: ExportOptions = {},
): AsyncGenerator<Buffer, void> {
  const siteId = await resolveSite(db, storeId, site);
  const isSingle = engineOf(db).kind === "embedded";
  await exportPlaces.take(storeId, { signal });
  const abandoned = new AbortController();
  const queue = new SpillQueue();
  const abort = (): void =>
    abandoned.abort(signal?.reason ?? new AppError("CLIENT_CLOSED_REQUEST", "The export was abandoned."));
  const stopWatching = whenAborted(signal, abort);
  abandoned.signal.addEventListener("abort", () => queue.end({ error: abandoned.signal.reason as Error }));
  const read = isSingle ? readPages : readShared;
  const filter = { ...narrowed, storeId, siteId };
  const reader = { format, filter, signal: abandoned.signal, ...intoQueue(queue, onProgress) };
  const reading = read(db, reader).then(
    () => queue.end(),
    (error: unknown) => queue.end({ error }),
  );
  try {
    if (isSingle) await reading; // only its end proves that it was consistent
    yield* withOpening(exportOpenings[format], queue.pieces());
  } finally {
    abort();
    stopWatching();
    await reading;
    exportPlaces.release(storeId);
  }
}

function intoQueue(queue: SpillQueue, onProgress?: (products: number) => void) {
  let products = 0;
  return {
    take: (lines: string, count: number) => {
      products += count;
      onProgress?.(products);
      return queue.push(Buffer.from(lines));
    },
    restart: () => {
      products = 0;
      queue.clear();
    },
  };
}

function readShared(db: RootDatabase, reader: ExportReader): Promise<void> {
  return asWideRead(db, reader.filter.storeId, () => readSnapshot(db, reader), reader.signal);
}

/** Sends the opening with the first piece, so that a failure to read that one comes before it. */
async function* withOpening(opening: string, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let isOpen = false;
  for await (const piece of pieces) {
    yield isOpen ? piece : Buffer.concat([Buffer.from(opening), piece]);
    isOpen = true;
  }
  if (!isOpen) yield Buffer.from(opening);
}

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
 * Reads a consistent snapshot in the embedded engine's single session, which an open cursor would block. It reads page by page, in
 * statements of milliseconds, and starts again if the catalog has changed by then. The last attempt is one transaction.
 *
 * @throws the signal's reason once it is aborted
 */
async function readPages(db: RootDatabase, reader: ExportReader): Promise<void> {
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

type Row<Value extends Digest> = Omit<Value, "versions"> & { readonly versions: string };

async function readPage(
  db: Database,
  format: ExportFormat,
  filter: ExportFilter,
  afterId: string | null,
): Promise<Page> {
  const after = afterId === null ? Prisma.empty : Prisma.sql`AND p.id > ${afterId}`;
  // A subquery as in product.searchIndex.ts, because with a plain limit the planner would sort the whole catalog for each page.
  const [page] = await db.$queryRaw<[Row<Page>]>`
    SELECT ${digest}, string_agg(p.line, '' ORDER BY p.id) AS lines, max(p.id) AS "lastId" FROM (
      SELECT p.id, ${version}, ${exportLines[format]} AS line ${exportedProducts(filter)} ${after}
      ORDER BY p.id LIMIT (SELECT ${rowsPerPage}::int)) p`;
  return { ...page, versions: BigInt(page.versions) };
}

/** Undefined while another process's import is partly stored. */
async function digestOf(db: Database, filter: ExportFilter): Promise<Digest | undefined> {
  await readsUnblocked(filter.storeId);
  const [row] = await db.$queryRaw<[Row<Digest> & { isPartial: boolean }]>`
    SELECT ${digest}, EXISTS (SELECT FROM "StagedImport" i WHERE i."storeId" = ${filter.storeId}
      AND i."decidedAt" IS NOT NULL) AS "isPartial"
    FROM (SELECT p.id, ${version} ${exportedProducts(filter)}) p`;
  return row.isPartial ? undefined : { products: row.products, versions: BigInt(row.versions) };
}

interface ExportReader {
  readonly format: ExportFormat;
  readonly filter: ExportFilter;
  /** Receives lines and the number of their products. It must not wait for the client. */
  readonly take: (lines: string, products: number) => Promise<void>;
  /** Drops everything taken so far, to start again. */
  readonly restart: () => void;
  readonly signal: AbortSignal;
}

/**
 * Reads one snapshot from the cursor of one statement, which the end of the transaction closes.
 *
 * @throws the signal's reason once it is aborted
 */
async function readSnapshot(db: RootDatabase, { format, filter, take, signal }: ExportReader): Promise<void> {
  await db.$transaction(
    async (transaction) => {
      await transaction.$executeRaw`
        DECLARE "exported" NO SCROLL CURSOR FOR SELECT ${exportLines[format]} AS line ${exportedProducts(filter)}
        ORDER BY p.id`;
      for (;;) {
        signal.throwIfAborted();
        const rows = await transaction.$queryRaw<{ line: string }[]>`FETCH ${rowsPerFetch} FROM "exported"`;
        if (rows.length === 0) return;
        await take(rows.map(({ line }) => line).join(""), rows.length);
      }
    },
    { timeout: timeoutMs },
  );
}
