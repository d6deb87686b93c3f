import type { Database, RootDatabase } from "../../database/client.js";
import { withRawParameters } from "../../database/rawParameters.js";
import { queryStore } from "../../database/sql/storeStatements.js";
import { AppError } from "../../errors.js";
import { Prisma } from "../../generated/prisma/client.js";
import { batchEventsMax } from "../../events/events.input.js";
import { insertNames, type NameLimits, nameLimits, type NewName } from "../../events/record/countedNames.js";
import { channelName } from "../../events/record/eventValues.sql.js";
import { type EventColumns, eventStatement } from "../../events/record/events.sql.js";
import { linesOf } from "../../events/record/events.totals.sql.js";
import { otherName, unknownName } from "../../events/record/countedNames.sql.js";
import { findLiveStream } from "../../shows/liveStream.js";
import { withShowLock } from "../../database/showLock.js";
import { foldWithin } from "../../events/record/fold.js";

const transactionTimeoutMs = 4 * 3_600_000;
export interface RebuildResult {
  readonly rebuilt: string[];
  readonly pruned: string[];
}

/**
 * Computes all totals of a show, or of all shows of the store, from the events. It empties them, and counts the stored events with the
 * statement that records, in the order of their acceptance. Each show is one transaction: batches wait, and readers see the old
 * figures until it commits.
 *
 * @throws {AppError} LIVE_STREAM_NOT_FOUND, VALIDATION_FAILED if events of the named show were removed, or UNAVAILABLE if the show
 * stays locked
 */
export async function rebuildAnalytics(
  db: RootDatabase,
  storeId: string,
  lsId?: string,
  limits: NameLimits = nameLimits,
  pageEvents: number = batchEventsMax,
): Promise<RebuildResult> {
  const ids = lsId === undefined ? await listIds(db, storeId) : [(await findLiveStream(db, storeId, lsId)).id];
  const result: RebuildResult = { rebuilt: [], pruned: [] };
  for (const id of ids) {
    const isRebuilt = await withShowLock(db, { storeId, lsId: id, timeoutMs: transactionTimeoutMs }, (transaction) =>
      rebuildShow(transaction, { storeId, lsId: id, limits, pageEvents }),
    );
    result[isRebuilt ? "rebuilt" : "pruned"].push(id);
  }
  if (lsId === undefined || result.pruned.length === 0) return result;
  throw new AppError("VALIDATION_FAILED", `The events of ${lsId} were pruned: its totals cannot be rebuilt.`);
}

interface ShowToRebuild {
  readonly storeId: string;
  readonly lsId: string;
  readonly limits: NameLimits;
  readonly pageEvents: number;
}

/** @returns false if events were removed, which it checks under the lock that pruning takes too */
async function rebuildShow(transaction: Database, show: ShowToRebuild): Promise<boolean> {
  const { storeId, lsId } = show;
  const { prunedAt, prunedBefore, number } = await findLiveStream(transaction, storeId, lsId);
  if (prunedAt !== null || prunedBefore !== null) return false;
  for (const statement of emptyTotals(storeId, lsId, number)) await transaction.$executeRaw(statement);
  await transaction.$executeRaw`DECLARE "stored" NO SCROLL CURSOR FOR ${pagesOf(show, number)}`;
  for (;;) {
    const [page] = await transaction.$queryRaw<EventColumns[]>`FETCH 1 FROM "stored"`;
    if (page === undefined) return true;
    await countPage(transaction, show, page);
    await foldWithin(transaction, storeId, lsId);
  }
}

async function listIds(db: Database, storeId: string): Promise<string[]> {
  const shows = await db.liveStream.findMany({ where: { storeId }, select: { id: true }, orderBy: { id: "asc" } });
  return shows.map(({ id }) => id);
}

/** The names that a show counts, which are rows of slot -1, stay, because events do not tell which of two concurrent batches came first. */
function emptyTotals(storeId: string, lsId: string, number: number): Prisma.Sql[] {
  const ofShow = Prisma.sql`"storeId" = ${storeId} AND "liveStreamId" = ${lsId}`;
  const emptied = ["ShowViewer", "ShowPresence", "ShowProductSlot", "ShowProductSpan"].map(
    (table) => Prisma.sql`DELETE FROM ${Prisma.raw(`"${table}"`)} WHERE "storeId" = ${storeId} AND show = ${number}`,
  );
  return [
    ...emptied,
    Prisma.sql`DELETE FROM "LiveStreamTotal" WHERE ${ofShow}`,
    Prisma.sql`DELETE FROM "LiveStreamMinute" WHERE ${ofShow}`,
    Prisma.sql`DELETE FROM "LiveStreamSpan" WHERE ${ofShow}`,
    Prisma.sql`DELETE FROM "LiveStreamGroup" WHERE ${ofShow} AND slot <> -1`,
    Prisma.sql`DELETE FROM "LiveStreamProduct" WHERE ${ofShow} AND slot <> -1`,
    Prisma.sql`UPDATE "LiveStreamGroup" SET viewers = 0, orders = 0, sales = 0 WHERE ${ofShow}`,
    Prisma.sql`UPDATE "LiveStreamProduct" SET carts = 0, orders = 0, quantity = 0, sales = 0 WHERE ${ofShow}`,
  ];
}

/** Pages of the show's events in the order of their acceptance, as the columns of a batch. */
function pagesOf({ storeId, pageEvents }: ShowToRebuild, number: number): Prisma.Sql {
  const names = [
    "id",
    "type",
    "channel",
    "viewerId",
    "device",
    "source",
    "value",
    "orderId",
    "lines",
    "productId",
    "occurredAt",
  ];
  const columns = names.map((name) => Prisma.raw(`array_agg("${name}")::text AS "${name}"`));
  return Prisma.sql`
    SELECT count(*)::int AS count, '{}' AS place, ${Prisma.join(columns)}
    FROM (
      SELECT n.*, (n.place - 1) / ${pageEvents}::int AS page
      FROM (
        SELECT e.*, row_number() OVER (ORDER BY e."acceptedAt", e.position, e.id) AS place
        FROM "ShowEvent" AS e WHERE e."storeId" = ${storeId} AND e.show = ${number}::int) AS n
      ORDER BY page, n.place) AS e
    GROUP BY page ORDER BY page`;
}

function countPage(transaction: Database, show: ShowToRebuild, page: EventColumns): Promise<void> {
  const { storeId, lsId } = show;
  return withRawParameters(async (bind) => {
    const columns = Object.fromEntries(
      Object.entries(page).map(([name, value]) => [name, typeof value === "string" ? bind(value) : value]),
    ) as unknown as EventColumns;
    await insertNames(transaction, await namesOf(transaction, columns), show);
    const statement = eventStatement({
      storeId,
      shows: [{ lsId, earliest: null, createdAt: undefined, offset: 0 }],
      slot: 0,
      now: new Date(),
      hasOthers: true,
      hasOrders: false,
      hasLate: false,
      refusedBy: [],
      kind: "stored",
      duplicates: "unexpected",
      columns,
    });
    await queryStore(transaction, storeId, statement);
  });
}

/** Distinct names of the events of a page, in the order of the events. */
function namesOf(transaction: Database, columns: EventColumns): Promise<NewName[]> {
  return transaction.$queryRaw<NewName[]>`
    WITH e AS MATERIALIZED (
      SELECT * FROM unnest(${columns.type}::smallint[], ${columns.channel}::smallint[], ${columns.device}::text[],
        ${columns.source}::text[], ${columns.productId}::text[], ${columns.lines}::text[])
        WITH ORDINALITY AS e(type, channel, device, source, "productId", lines, position))
    SELECT kind, name FROM (
      SELECT ${channelName(Prisma.sql`channel`)} AS kind, coalesce(nullif(device, ''), ${unknownName}) AS name, position
      FROM e WHERE type < 3 AND channel < 3
      UNION ALL SELECT 'SOURCE', coalesce(nullif(source, ''), ${unknownName}), position FROM e WHERE type NOT IN (4, 6)
      UNION ALL SELECT 'PRODUCT', "productId", position FROM e WHERE type > 1 AND lines = '' AND "productId" <> ''
      UNION ALL SELECT 'PRODUCT', x."productId", position FROM e, ${linesOf} WHERE type > 2 AND lines <> '') AS n
    WHERE kind = 'PRODUCT' OR name <> ${otherName} GROUP BY kind, name ORDER BY min(position)`;
}
