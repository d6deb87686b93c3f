import type { Database, RootDatabase } from "../../database/client.js";
import { withRawParameters } from "../../database/rawParameters.js";
import { inTransaction } from "../../database/transaction.js";
import { errorAt, validationFailed } from "../../errors.js";
import { isStorable } from "../../lib/text.js";
import { findLiveStream, liveStreamNotFound } from "../liveStream.js";
import { wholeSeconds } from "./moments.js";
import { type MomentInput, momentProblems, momentsMax, tooManyMoments } from "./moments.input.js";

const timeoutMs = 15_000;

/**
 * Saves moments of a show: all of them, or none. A moment with a known id replaces that one.
 *
 * @param requireState called once the show is locked; throws if its moments must not be changed
 * @throws {AppError} VALIDATION_FAILED for invalid moments, or more than `momentsMax` of a show; LIVE_STREAM_NOT_FOUND
 */
export async function saveMoments(
  db: RootDatabase,
  storeId: string,
  lsId: string,
  moments: readonly MomentInput[],
  requireState: (transaction: Database) => Promise<void> = () => Promise.resolve(),
) {
  momentProblems(moments, await findLiveStream(db, storeId, lsId), ["moments"]).throwIfAny();
  return inTransaction(db, { timeoutMs }, async (transaction) => {
    // Calls for one show take turns, and it is not deleted meanwhile. Batches of events do not wait for this.
    const [show] = await transaction.$queryRaw<{ number: number }[]>`
      SELECT number FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${lsId} FOR NO KEY UPDATE`;
    if (show === undefined) throw liveStreamNotFound();
    await requireState(transaction);
    const stored = await storeMoments(transaction, storeId, lsId, moments);
    const count = await transaction.showMoment.count({ where: { storeId, show: show.number } });
    if (count > momentsMax) throw validationFailed({ list: [tooManyMoments(["moments"])], total: 1 });
    const created = stored.filter(({ isNew }) => isNew).length;
    return { accepted: moments.length, created, replaced: moments.length - created };
  });
}

function storeMoments(transaction: Database, storeId: string, lsId: string, moments: readonly MomentInput[]) {
  const rows = moments.map(({ startedAt, endedAt, host, ...moment }) => ({
    ...moment,
    startedAt: wholeSeconds(startedAt),
    endedAt: endedAt && wholeSeconds(endedAt),
    hostName: host?.name,
    hostEmail: host?.email,
  }));
  return withRawParameters(
    (bind) => transaction.$queryRaw<{ isNew: boolean }[]>`
    INSERT INTO "ShowMoment" AS t ("storeId", show, id, kind, "startedAt", "endedAt", "productId", "hostName", "hostEmail", title)
    SELECT l."storeId", l.number, m.*
    FROM "LiveStream" AS l, json_to_recordset(${bind(JSON.stringify(rows))}::json) AS m(id text, kind text, "startedAt" timestamptz,
      "endedAt" timestamptz, "productId" text, "hostName" text, "hostEmail" text, title text)
    WHERE l."storeId" = ${storeId} AND l.id = ${lsId} ORDER BY m.id
    ON CONFLICT ("storeId", show, id) DO UPDATE SET kind = EXCLUDED.kind, "startedAt" = EXCLUDED."startedAt",
      "endedAt" = EXCLUDED."endedAt", "productId" = EXCLUDED."productId", "hostName" = EXCLUDED."hostName",
      "hostEmail" = EXCLUDED."hostEmail", title = EXCLUDED.title
    RETURNING xmax = 0 AS "isNew"`,
  );
}

/** @throws {AppError} LIVE_STREAM_NOT_FOUND or MOMENT_NOT_FOUND */
export async function deleteMoment(db: Database, storeId: string, lsId: string, id: string) {
  const { number } = await findLiveStream(db, storeId, lsId);
  const where = { storeId, show: number, id };
  const { count } = isStorable(id) ? await db.showMoment.deleteMany({ where }) : { count: 0 };
  if (count === 0) throw errorAt("MOMENT_NOT_FOUND", "The show has no moment with this id.", ["id"]);
  return { id, message: `Moment ${id} was deleted.` };
}
