import { resolveSite, type SiteReference } from "../../access/stores/site.js";
import { engineOf } from "../../database/engine.js";
import type { RootDatabase } from "../../database/client.js";
import { asWideRead } from "../../database/shares/shares.js";
import { FairShare } from "../../lib/fairShare.js";
import { SpillQueue } from "../../lib/streams/spillQueue.js";
import { whenAborted } from "../../lib/streams/whenAborted.js";
import { AppError } from "../../errors.js";
import { readPages } from "./export.pages.js";
import { type ExportReader, readSnapshot } from "./export.snapshot.js";
import { type ExportFilter, type ExportFormat, exportOpenings } from "./export.sql.js";

export interface ExportOptions extends Omit<ExportFilter, "storeId" | "siteId"> {
  readonly site?: SiteReference | undefined;
  readonly onProgress?: ((products: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Each open export may have a temporary file of the size of a catalog. */
export const exportPlaces = new FairShare({
  places: 16,
  ofStoreMax: 4,
  message: "Too many exports are under way.",
  retryAfterSeconds: 5,
});

/**
 * Products in the order of their ids, as bytes that an import takes: one consistent snapshot, in constant memory.
 * However slow the consumer is, the database is read at its own speed. Returning from the generator ends the reading.
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
    if (isSingle) await reading; // only its end shows that it was consistent
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

/** The opening comes with the first piece, after any failure to read that one. */
async function* withOpening(opening: string, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let isOpen = false;
  for await (const piece of pieces) {
    yield isOpen ? piece : Buffer.concat([Buffer.from(opening), piece]);
    isOpen = true;
  }
  if (!isOpen) yield Buffer.from(opening);
}
