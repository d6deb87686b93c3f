import type { Database } from "../../database/client.js";
import type { LiveStream } from "../../generated/prisma/client.js";
import type { LiveStreamStatus } from "./liveStream.js";

interface LiveStreamFilter {
  readonly first: number;
  readonly after?: { readonly startedAt: Date; readonly id: string } | undefined;
  readonly status?: LiveStreamStatus | null | undefined;
}

/** A page of a store's shows, newest first; shows with the same start in descending order of their ids. */
export async function listLiveStreams(
  db: Database,
  storeId: string,
  { first, after, status }: LiveStreamFilter,
): Promise<{ nodes: readonly LiveStream[]; hasNextPage: boolean }> {
  const shows = await db.liveStream.findMany({
    where: {
      storeId,
      ...(status && { status }),
      ...(after && {
        OR: [{ startedAt: { lt: after.startedAt } }, { startedAt: after.startedAt, id: { lt: after.id } }],
      }),
    },
    orderBy: [{ startedAt: "desc" }, { id: "desc" }],
    take: first + 1,
  });
  return { nodes: shows.slice(0, first), hasNextPage: shows.length > first };
}
