import type { Database, RootDatabase } from "../database/client.js";
import { storeGone } from "../database/shares/caller.js";
import { inTransaction } from "../database/transaction.js";
import { AppError, Problems } from "../errors.js";
import type { LiveStream } from "../generated/prisma/client.js";
import { checkLiveStream, type LiveStreamInput } from "./liveStream.input.js";
import { forgetEnd, type LiveStreamStatus, liveStreamStatuses } from "./liveStream.js";

const timeoutMs = 15_000;

/**
 * Creates or changes the show with this id. Saving the same status again is allowed.
 *
 * @throws {AppError} VALIDATION_FAILED for invalid values, for a start that does not fit the status, and for a step back in
 * status other than from ENDED to LIVE
 *
 * @param requireState called once the show is locked; throws if it must not be changed
 */
export async function saveLiveStream(
  db: RootDatabase,
  storeId: string,
  input: LiveStreamInput,
  requireState: (transaction: Database) => Promise<void> = () => Promise.resolve(),
): Promise<LiveStream> {
  const problems = new Problems();
  checkLiveStream(input, ["liveStream"], problems);
  problems.throwIfAny();
  const { id, status } = input;
  const values = valuesOf(input);
  const where = { storeId_id: { storeId, id } };
  const show = await inTransaction(db, { timeoutMs }, async (transaction) => {
    // Batches of events do not wait for this, because they only lock the key.
    const lockSaved = () => transaction.$queryRaw<{ status: string }[]>`
      SELECT status FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${id} FOR NO KEY UPDATE`;
    let [saved] = await lockSaved();
    if (saved === undefined) {
      // One at a time within a store: each new show gets the next number, and only one of several concurrent savers creates the show.
      const stores = await transaction.$executeRaw`
        SELECT FROM "Store" WHERE id = ${storeId} FOR NO KEY UPDATE`;
      if (stores === 0) throw storeGone();
      [saved] = await lockSaved();
      if (saved === undefined) {
        await requireState(transaction);
        const last = await transaction.liveStream.aggregate({ where: { storeId }, _max: { number: true } });
        const number = (last._max.number ?? 0) + 1;
        return transaction.liveStream.create({ data: { storeId, id, number, ...values } });
      }
    }
    await requireState(transaction);
    requireTransition(saved.status, status);
    return transaction.liveStream.update({ where, data: values });
  });
  forgetEnd(db, storeId, id);
  return show;
}

/** The columns that the input sets. */
function valuesOf({ name, status, startedAt, durationSeconds, host }: LiveStreamInput) {
  return {
    name,
    status,
    startedAt,
    durationSeconds: status === "ENDED" || status === "ARCHIVED" ? (durationSeconds ?? null) : null,
    hostName: host?.name ?? null,
    hostEmail: host?.email ?? null,
  };
}

/** An ended show may go live again, because shows break off. An archived one would count pruned events again. */
function requireTransition(from: string, to: LiveStreamStatus): void {
  if (liveStreamStatuses.indexOf(to) >= liveStreamStatuses.findIndex((status) => status === from)) return;
  if (from === "ENDED" && to === "LIVE") return;
  const message = `A show that is ${from} cannot become ${to}.`;
  throw new AppError("VALIDATION_FAILED", message, {
    problems: [{ code: "INVALID_VALUE", message, path: ["liveStream", "status"] }],
  });
}
