import type { RootDatabase } from "../database/client.js";
import { withShowLock } from "../database/showLock.js";
import { deletePage, eventTables, type PageEnd } from "../database/storeTables.js";
import { findLiveStream } from "./liveStream.js";

/** Small enough to hold locks, and delay vacuum, only for a moment. */
const pageRowsByDefault = 10_000;
const pageTimeoutMs = 60_000;

/**
 * Deletes the events of a show, and the rows that identify their viewers, page by page. The show must take no more events.
 *
 * @returns for each page, the table and the number of its rows
 * @throws {AppError} LIVE_STREAM_NOT_FOUND, or UNAVAILABLE if the show stays locked
 */
export async function* deleteEvents(db: RootDatabase, storeId: string, lsId: string, rowsMax = pageRowsByDefault) {
  const { number } = await findLiveStream(db, storeId, lsId);
  for (const table of eventTables) {
    let after: PageEnd | undefined;
    do {
      const page = await withShowLock(db, { storeId, lsId, timeoutMs: pageTimeoutMs }, (transaction) =>
        deletePage(transaction, { table, storeId, show: number, after, rowsMax }),
      );
      after = page.last;
      yield { table: table.name, removed: page.removed };
    } while (after !== undefined);
  }
}
