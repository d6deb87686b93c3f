import type { Database, RootDatabase } from "../../database/client.js";
import { textArrayLiteral, withRawParameters } from "../../database/rawParameters.js";
import { inTransaction } from "../../database/transaction.js";
import { errorAt, Problems } from "../../errors.js";
import { isStorable } from "../../lib/text.js";
import { findLiveStream, liveStreamNotFound } from "../liveStream.js";
import { wholeSeconds } from "./moments.js";
import { addTooMany, checkMoments, checkWithinShow, type MomentInput, momentsMax } from "./moments.input.js";

const timeoutMs = 15_000;

export interface MomentReceipt {
  /** The moments that were saved. */
  readonly accepted: number;
  /** Those of them whose id is new. */
  readonly created: number;
  /** Those of them that replaced a moment. */
  readonly replaced: number;
}

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
): Promise<MomentReceipt> {
  if (!isStorable(lsId)) throw liveStreamNotFound();
  const found = new Problems();
  checkMoments(moments, ["moments"], found);
  found.throwIfAny();
  return inTransaction(db, { timeoutMs }, async (transaction) => {
    // Calls for one show take turns, and it is not deleted meanwhile. Batches of events do not wait for this.
    await transaction.$executeRaw`
      SELECT FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${lsId} FOR NO KEY UPDATE`;
    const show = await findLiveStream(transaction, storeId, lsId);
    await requireState(transaction);
    const problems = new Problems();
    checkWithinShow(moments, show, ["moments"], problems);
    problems.throwIfAny();
    const stored = await storeMoments(transaction, storeId, lsId, moments);
    const count = await transaction.showMoment.count({ where: { storeId, show: show.number } });
    if (count > momentsMax) addTooMany(["moments"], problems);
    problems.throwIfAny();
    const created = stored.filter(({ isNew }) => isNew).length;
    return { accepted: moments.length, created, replaced: moments.length - created };
  });
}

function storeMoments(transaction: Database, storeId: string, lsId: string, moments: readonly MomentInput[]) {
  return withRawParameters((bind) => {
    const column = (value: (moment: MomentInput) => string | null | undefined) =>
      bind(textArrayLiteral(moments.map((moment) => value(moment) ?? null)));
    return transaction.$queryRaw<{ isNew: boolean }[]>`
      INSERT INTO "ShowMoment" AS t ("storeId", show, id, kind, "startedAt", "endedAt", "productId", "hostName", "hostEmail", title)
      SELECT l."storeId", l.number, m.id, m.kind, m."startedAt", m."endedAt", m."productId", m."hostName", m."hostEmail", m.title
      FROM "LiveStream" AS l, unnest(${column(({ id }) => id)}::text[], ${column(({ kind }) => kind)}::text[],
        ${column(({ startedAt }) => wholeSeconds(startedAt).toISOString())}::timestamptz[],
        ${column(({ endedAt }) => endedAt && wholeSeconds(endedAt).toISOString())}::timestamptz[],
        ${column(({ productId }) => productId)}::text[], ${column(({ host }) => host?.name)}::text[],
        ${column(({ host }) => host?.email)}::text[], ${column(({ title }) => title)}::text[])
        AS m(id, kind, "startedAt", "endedAt", "productId", "hostName", "hostEmail", title)
      WHERE l."storeId" = ${storeId} AND l.id = ${lsId} ORDER BY m.id
      ON CONFLICT ("storeId", show, id) DO UPDATE SET kind = EXCLUDED.kind, "startedAt" = EXCLUDED."startedAt",
        "endedAt" = EXCLUDED."endedAt", "productId" = EXCLUDED."productId", "hostName" = EXCLUDED."hostName",
        "hostEmail" = EXCLUDED."hostEmail", title = EXCLUDED.title
      RETURNING xmax = 0 AS "isNew"`;
  });
}

export interface MomentDeletion {
  readonly id: string;
  readonly message: string;
}

/** @throws {AppError} LIVE_STREAM_NOT_FOUND or MOMENT_NOT_FOUND */
export async function deleteMoment(db: Database, storeId: string, lsId: string, id: string): Promise<MomentDeletion> {
  const { number } = await findLiveStream(db, storeId, lsId);
  const where = { storeId, show: number, id };
  const { count } = isStorable(id) ? await db.showMoment.deleteMany({ where }) : { count: 0 };
  if (count === 0) throw errorAt("MOMENT_NOT_FOUND", "The show has no moment with this id.", ["id"]);
  return { id, message: `Moment ${id} was deleted.` };
}
