import type { RootDatabase } from "../../database/client.js";
import { isOfCallersStore } from "../../database/shares/caller.js";
import { AppError } from "../../errors.js";
import { findLiveStream } from "./liveStream.js";

/** Events came before the start of a scheduled show. Nothing was stored. */
export class ShowNotStartedError extends AppError {
  constructor(readonly startsAt: Date) {
    const message = "The show is scheduled and takes no events yet: save it as LIVE when it starts.";
    super("VALIDATION_FAILED", message, { problems: [{ code: "VALIDATION_FAILED", message, path: ["lsId"] }] });
  }
}

/**
 * Makes a scheduled show LIVE once its start has passed. Does nothing to a show that is not scheduled.
 *
 * @throws {ShowNotStartedError} before its start
 * @throws {AppError} LIVE_STREAM_NOT_FOUND
 */
export async function startWhenDue(db: RootDatabase, storeId: string, id: string): Promise<void> {
  const now = new Date();
  const started = await db.$executeRaw`
    UPDATE "LiveStream" SET status = 'LIVE'
    WHERE "storeId" = ${storeId} AND id = ${id} AND status = 'SCHEDULED' AND "startedAt" <= ${now}::timestamptz
      AND ${isOfCallersStore(db, storeId)}`;
  if (started > 0) return;
  const { status, startedAt } = await findLiveStream(db, storeId, id);
  if (status === "SCHEDULED" && startedAt > now) throw new ShowNotStartedError(startedAt);
}
