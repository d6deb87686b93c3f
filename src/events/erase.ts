import { randomBytes } from "node:crypto";
import type { RootDatabase } from "../database/client.js";
import { Problems } from "../errors.js";
import { Prisma } from "../generated/prisma/client.js";
import { checkText } from "../shows/liveStream.input.js";
import { withShowLock } from "../database/showLock.js";
import { idBytes } from "./record/eventValues.sql.js";

export interface ViewerErasure {
  readonly message: string;
  /** Shows in which the viewer appeared. */
  readonly shows: number;
  /** Events whose viewer id was replaced. */
  readonly events: number;
}

const timeoutMs = 30 * 60_000;
const randomBytesOfId = 16;

/**
 * Replaces the id of a viewer by a random one in the store's shows, orders and claims. Figures stay, also after a rebuild and under every
 * rule by which orders count, and events that are sent again are still known. A viewer who returns with the old id counts as a new one. Reads all events of the store's
 * shows; after an interruption, another call does the rest.
 *
 * @throws {AppError} VALIDATION_FAILED for an id that no viewer can have, or UNAVAILABLE where a show stays locked
 */
export async function eraseViewer(db: RootDatabase, storeId: string, viewerId: string): Promise<ViewerErasure> {
  const problems = new Problems();
  checkText(viewerId, 255, [], "viewerId", problems);
  problems.throwIfAny();
  const found = await db.liveStream.findMany({ where: { storeId }, select: { id: true, number: true } });
  const ids = { before: idBytes(viewerId), after: `\\x${randomBytes(randomBytesOfId).toString("hex")}` };
  let [shows, events] = [0, 0];
  for (const { id, number } of found) {
    const show = { storeId, lsId: id, number };
    if (!(await isKnown(db, show, ids))) continue;
    events += await eraseFromShow(db, show, ids);
    shows += 1;
  }
  const orders = await eraseFromOrders(db, storeId, ids);
  const message = shows + orders === 0 ? "No show and no order has this viewer." : "The viewer was erased.";
  return { message, shows, events };
}

interface Show {
  readonly storeId: string;
  readonly lsId: string;
  readonly number: number;
}

/** Of the viewer, as they are stored. */
interface Ids {
  readonly before: string;
  readonly after: string;
}

async function isKnown(db: RootDatabase, { storeId, number }: Show, { before }: Ids): Promise<boolean> {
  const [row] = await db.$queryRaw<[{ isKnown: boolean }]>`
    SELECT EXISTS (SELECT FROM "ShowViewer" AS v
        WHERE v."storeId" = ${storeId} AND v.show = ${number} AND v."viewerId" = ${before}::bytea)
      OR EXISTS (SELECT FROM "ShowEvent" AS e
        WHERE e."storeId" = ${storeId} AND e.show = ${number} AND e."viewerId" = ${before}::bytea) AS "isKnown"`;
  return row.isKnown;
}

/** @returns how many orders named the viewer */
async function eraseFromOrders(db: RootDatabase, storeId: string, { before, after }: Ids): Promise<number> {
  const erased = (column: string) => {
    const id = Prisma.raw(`"${column}"`);
    return Prisma.sql`${id} = CASE WHEN ${id} = ${before}::bytea THEN ${after}::bytea ELSE ${id} END`;
  };
  await db.$executeRaw`
    UPDATE "OrderClaim" SET ${erased("viewerId")}, ${erased("formerId")}
    WHERE "storeId" = ${storeId} AND ${before}::bytea IN ("viewerId", "formerId")`;
  return db.$executeRaw`
    UPDATE "ShopOrder" SET ${erased("viewerId")}, ${erased("claimedBy")}, ${erased("alsoClaimedBy")}
    WHERE "storeId" = ${storeId} AND ${before}::bytea IN ("viewerId", "claimedBy", "alsoClaimedBy")`;
}

/** Takes the show's exclusive lock, since batches under way know the viewer by the old id. */
async function eraseFromShow(
  db: RootDatabase,
  { storeId, lsId, number }: Show,
  { before, after }: Ids,
): Promise<number> {
  return withShowLock(db, { storeId, lsId, timeoutMs }, async (transaction) => {
    await transaction.$executeRaw`
      UPDATE "ShowViewer" SET "viewerId" = ${after}::bytea
      WHERE "storeId" = ${storeId} AND show = ${number} AND "viewerId" = ${before}::bytea`;
    await transaction.$executeRaw`
      UPDATE "ShowPresence" SET "viewerId" = ${after}::bytea
      WHERE "storeId" = ${storeId} AND show = ${number} AND "viewerId" = ${before}::bytea`;
    return transaction.$executeRaw`
      UPDATE "ShowEvent" SET "viewerId" = ${after}::bytea
      WHERE "storeId" = ${storeId} AND show = ${number} AND "viewerId" = ${before}::bytea`;
  });
}
