import type { Database } from "../../database/client.js";
import { errorAt } from "../../errors.js";
import { isLongerThan, isStorable } from "../../lib/text.js";
import type { LiveStream } from "../../generated/prisma/client.js";
import type { LiveStreamStatus } from "./liveStream.js";

export interface LiveStreamPosition {
  readonly startedAt: Date;
  readonly id: string;
  readonly isScheduled: boolean;
}

/** A blank search matches all. */
export interface LiveStreamFilter {
  readonly status?: LiveStreamStatus | null | undefined;
  readonly search?: string | null | undefined;
  /** By (scheduled) start: from a moment until before another. */
  readonly from?: Date | null | undefined;
  readonly until?: Date | null | undefined;
}

interface LiveStreamPage extends LiveStreamFilter {
  readonly first: number;
  readonly after?: LiveStreamPosition | undefined;
}

const searchCharactersMax = 200;
const searchWordsMax = 8;

/**
 * Newest first, and last those that are scheduled, the next one first. Equal starts go by id, in the same direction.
 *
 * @throws {AppError} VALIDATION_FAILED for a search that is too long
 */
export async function listLiveStreams(
  db: Database,
  storeId: string,
  { first, after, status, ...filter }: LiveStreamPage,
): Promise<{ nodes: readonly LiveStream[]; hasNextPage: boolean }> {
  const matches = matching(filter);
  const rowsMax = first + 1;
  const isPastBegun = status === "SCHEDULED" || after?.isScheduled === true;
  const begun = isPastBegun ? [] : await findBegun(db, storeId, { after, status, matches, rowsMax });
  const scheduledMax = (status ?? "SCHEDULED") === "SCHEDULED" ? rowsMax - begun.length : 0;
  const scheduled =
    scheduledMax === 0 ? [] : await findScheduled(db, storeId, { after, matches, rowsMax: scheduledMax });
  const shows = [...begun, ...scheduled];
  return { nodes: shows.slice(0, first), hasNextPage: shows.length > first };
}

/** Counted up to a maximum. @throws {AppError} VALIDATION_FAILED for a search that is too long */
export async function countLiveStreams(
  db: Database,
  storeId: string,
  { status, ...filter }: LiveStreamFilter,
  max: number,
): Promise<number> {
  return db.liveStream.count({ where: { storeId, ...(status && { status }), ...matching(filter) }, take: max });
}

function matching({ search, from, until }: LiveStreamFilter) {
  const words = searchedWords(search);
  if (words === undefined) return { id: { in: [] } };
  const startedAt = { ...(from && { gte: from }), ...(until && { lt: until }) };
  return { AND: [...words.map(containing), ...(from || until ? [{ startedAt }] : [])] };
}

/**
 * Words that the name or id of a show contains, in any case, escaped for LIKE. Undefined for a search that nothing can
 * match.
 *
 * @throws {AppError} VALIDATION_FAILED for a search that is too long
 */
export function searchedWords(search: string | null | undefined): string[] | undefined {
  const text = search ?? "";
  if (isLongerThan(text, searchCharactersMax)) {
    throw errorAt("VALIDATION_FAILED", `search must have at most ${searchCharactersMax} characters.`, ["search"]);
  }
  if (!isStorable(text)) return undefined; // PostgreSQL would refuse it
  const words = text.split(/\s+/u).filter((word) => word !== "");
  return words.slice(0, searchWordsMax).map((word) => word.replaceAll(/[\\%_]/gu, "\\$&"));
}

function containing(word: string) {
  const contains = { contains: word, mode: "insensitive" as const };
  return { OR: [{ name: contains }, { id: contains }] };
}

interface Part {
  readonly after: LiveStreamPosition | undefined;
  readonly matches: ReturnType<typeof matching>;
  readonly rowsMax: number;
}

function findBegun(
  db: Database,
  storeId: string,
  { after, status, matches, rowsMax }: Part & Pick<LiveStreamFilter, "status">,
): Promise<LiveStream[]> {
  return db.liveStream.findMany({
    where: {
      storeId,
      status: status ?? { not: "SCHEDULED" },
      ...matches,
      ...(after && {
        OR: [{ startedAt: { lt: after.startedAt } }, { startedAt: after.startedAt, id: { lt: after.id } }],
      }),
    },
    orderBy: [{ startedAt: "desc" }, { id: "desc" }],
    take: rowsMax,
  });
}

function findScheduled(db: Database, storeId: string, { after, matches, rowsMax }: Part): Promise<LiveStream[]> {
  return db.liveStream.findMany({
    where: {
      storeId,
      status: "SCHEDULED",
      ...matches,
      ...(after?.isScheduled && {
        OR: [{ startedAt: { gt: after.startedAt } }, { startedAt: after.startedAt, id: { gt: after.id } }],
      }),
    },
    orderBy: [{ startedAt: "asc" }, { id: "asc" }],
    take: rowsMax,
  });
}
