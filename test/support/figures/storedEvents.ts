import { idText } from "../../../src/events/record/eventValues.sql.js";
import type { RootDatabase } from "../../../src/database/client.js";
import type { ShowKey } from "../figures.js";

/** The rows of a show in the tables that name it by its number: a `where` for Prisma. */
export async function rowsOfShow(
  db: RootDatabase,
  { storeId, lsId }: ShowKey,
): Promise<{ storeId: string; show: number }> {
  const { number } = await db.liveStream.findUniqueOrThrow({ where: { storeId_id: { storeId, id: lsId } } });
  return { storeId, show: number };
}

/** The ids of a show's events, as they were sent, in their own order. */
export async function storedEventIds(db: RootDatabase, show: ShowKey): Promise<string[]> {
  const rows = await db.showEvent.findMany({ where: await rowsOfShow(db, show), select: { id: true } });
  return rows.map(({ id }) => idText(id)).toSorted();
}
