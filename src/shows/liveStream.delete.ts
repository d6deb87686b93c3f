import type { Database, RootDatabase } from "../database/client.js";
import { errorAt } from "../errors.js";
import { deleteShowRows, hasEventRows } from "../database/storeTables.js";
import { asLocked } from "../database/shares/lockWait.js";
import { isStorable } from "../lib/text.js";
import { reasonCodes } from "../database/codes.js";
import { deleteEvents } from "./events.delete.js";
import { findLiveStream, liveStreamNotFound } from "./liveStream.js";
import { withShowLock } from "../database/showLock.js";

export interface LiveStreamDeletion {
  readonly id: string;
  readonly message: string;
  readonly events: number;
}

interface DeletionOptions {
  /** Delete it even if it has events, together with them. */
  readonly force?: boolean;
  readonly batchRows?: number;
}

const timeoutMs = 60_000;

/**
 * Deletes a show with its data. It first archives the show, so that it takes no more events, and deletes its events in batches.
 * If a call is interrupted, another one completes it.
 *
 * @throws {AppError} LIVE_STREAM_NOT_FOUND, VALIDATION_FAILED if it has events and `force` is not given, or UNAVAILABLE if it
 * stays locked
 */
export async function deleteLiveStream(
  db: RootDatabase,
  storeId: string,
  lsId: string,
  { force = false, batchRows }: DeletionOptions = {},
): Promise<LiveStreamDeletion> {
  if (!isStorable(lsId)) throw liveStreamNotFound();
  const lock = { storeId, lsId, timeoutMs };
  const isDeleted = await withShowLock(db, lock, async (transaction) => {
    if (!(await hasEvents(transaction, storeId, lsId))) {
      await deleteRows(transaction, storeId, lsId);
      return true;
    }
    if (!force) throw errorAt("VALIDATION_FAILED", "The show has events. With force, they are deleted too.", ["force"]);
    await transaction.liveStream.updateMany({
      where: { storeId, id: lsId },
      data: { status: "ARCHIVED", prunedAt: new Date() },
    });
    return false;
  });
  let events = 0;
  if (!isDeleted) {
    for await (const { table, removed } of deleteEvents(db, storeId, lsId, batchRows)) {
      if (table === "ShowEvent") events += removed;
    }
    await withShowLock(db, lock, (transaction) => deleteRows(transaction, storeId, lsId));
  }
  return { id: lsId, message: `Live stream ${lsId} was deleted.`, events };
}

/** Pruned events count too. */
async function hasEvents(transaction: Database, storeId: string, lsId: string): Promise<boolean> {
  const [show] = await transaction.$queryRaw<{ hasEvents: boolean }[]>`
    SELECT ${hasEventRows(storeId)} OR EXISTS (
      SELECT FROM "LiveStreamTotal" AS t WHERE t."storeId" = ${storeId} AND t."liveStreamId" = s.id) AS "hasEvents"
    FROM "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.id = ${lsId}`;
  if (show === undefined) throw liveStreamNotFound();
  return show.hasEvents;
}

/** Requires the show's exclusive lock. */
async function deleteRows(transaction: Database, storeId: string, lsId: string): Promise<void> {
  const { number } = await findLiveStream(transaction, storeId, lsId); // throws if another call has deleted it
  await asLocked(
    transaction.$executeRaw`SELECT FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${lsId} FOR UPDATE`, // who saves its moments locks it
  );
  await deleteShowRows(transaction, { storeId, id: lsId, number });
  // Under rules that count views, orders of this show may now count for another one.
  await transaction.$executeRaw`
    UPDATE "ShopOrder" SET "dueAt" = ${new Date()}::timestamptz WHERE "storeId" = ${storeId} AND id IN (
      SELECT "orderId" FROM "OrderPart" WHERE "storeId" = ${storeId} AND show = ${number})`;
  await transaction.$executeRaw`
    UPDATE "OrderPart" SET show = 0, channel = 0, reason = ${reasonCodes.SHOW_DELETED}
    WHERE "storeId" = ${storeId} AND show = ${number}`;
  await transaction.$executeRaw`DELETE FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${lsId}`;
}
