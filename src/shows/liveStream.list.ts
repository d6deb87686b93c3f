import type { Database } from "../database/client.js";
import { errorAt } from "../errors.js";
import { isLongerThan, isStorable } from "../lib/text.js";
import type { LiveStream } from "../generated/prisma/client.js";
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
  /** The name or e-mail address of the host, in any case; blank matches all. */
  readonly host?: string | null | undefined;
  /** By (scheduled) start: from this moment, and before `until`. */
  readonly from?: Date | null | undefined;
  readonly until?: Date | null | undefined;
}

interface LiveStreamPage extends LiveStreamFilter {
  readonly first: number;
  readonly after?: LiveStreamPosition | undefined;
}

const searchCharactersMax = 200;
const hostCharactersMax = 255;
const searchWordsMax = 8;

/**
 * Newest first; scheduled shows come last, the next one first. Equal starts are ordered by id, in the same direction.
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

function matching({ search, host: givenHost, from, until }: LiveStreamFilter) {
  const words = searchedWords(search);
  const host = searchedHost(givenHost);
  if (words === undefined || host === undefined) return { id: { in: [] } };
  const startedAt = { ...(from && { gte: from }), ...(until && { lt: until }) };
  const hosted = host === "" ? [] : [hostedBy(host)];
  return { AND: [...words.map(containing), ...hosted, ...(from || until ? [{ startedAt }] : [])] };
}

/**
 * Words that the name or id of a show must contain, in any case, escaped for LIKE. Undefined for a search that cannot match.
 *
 * @throws {AppError} VALIDATION_FAILED for a search that is too long
 */
export function searchedWords(search: string | null | undefined): string[] | undefined {
  const text = storable(search, "search", searchCharactersMax);
  const words = text?.split(/\s+/u).filter((word) => word !== "");
  return words?.slice(0, searchWordsMax).map(forLike);
}

/**
 * The name or e-mail address of a host, escaped for LIKE. Empty for any host, undefined for one that cannot match. Its length is
 * limited, because it is compared with every show of the store, like the words of a search.
 *
 * @throws {AppError} VALIDATION_FAILED for one that is too long
 */
export function searchedHost(host: string | null | undefined): string | undefined {
  const text = storable(host, "host", hostCharactersMax);
  return text && forLike(text.trim());
}

/** Undefined for a text that PostgreSQL would refuse. */
function storable(given: string | null | undefined, name: string, charactersMax: number): string | undefined {
  const text = given ?? "";
  if (isLongerThan(text, charactersMax)) {
    throw errorAt("VALIDATION_FAILED", `${name} must have at most ${charactersMax} characters.`, [name]);
  }
  return isStorable(text) ? text : undefined;
}

function forLike(text: string): string {
  return text.replaceAll(/[\\%_]/gu, "\\$&");
}

function containing(word: string) {
  const contains = { contains: word, mode: "insensitive" as const };
  return { OR: [{ name: contains }, { id: contains }] };
}

/** Prisma compares by ILIKE. */
function hostedBy(host: string) {
  const equals = { equals: host, mode: "insensitive" as const };
  return { OR: [{ hostName: equals }, { hostEmail: equals }] };
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
