import type { Database } from "./client.js";

const known = new WeakMap<Database, boolean>();

/**
 * Whether the database is the embedded engine, whose one session all clients share: whoever holds a transaction keeps all
 * others waiting, and no lock keeps one client from another. Asked of the database itself once, whoever opened it.
 */
export async function isSingleSession(db: Database): Promise<boolean> {
  const answer = known.get(db);
  if (answer !== undefined) return answer;
  const [{ isEmbedded }] = await db.$queryRaw<[{ isEmbedded: boolean }]>`
    SELECT version() LIKE '%PGlite%' AS "isEmbedded"`;
  known.set(db, isEmbedded);
  return isEmbedded;
}
