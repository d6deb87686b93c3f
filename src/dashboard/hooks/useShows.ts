import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { LiveStreamStatus } from "../../generated/dashboard/graphql.js";
import { type Caller, query } from "../connection/api.js";
import { asFailure, type Failure } from "../connection/failure.js";
import { showsQuery } from "../queries/show.js";
import { readStore } from "../connection/store.js";
import { extended, renewed, type ShowList } from "../showList.js";

const pageSize = 20;
const furtherPageSize = 100;
const refreshMs = 30_000;

export interface ShowFilter {
  readonly status: LiveStreamStatus | undefined;
  /** Words of the name; blank for all. */
  readonly search: string;
}

/** The store's shows that pass the filter, refreshed every 30 seconds. Those of the filter before stay until they are loaded. */
export function useShows(token: string, { status, search }: ShowFilter) {
  const [list, setList] = useState<ShowList>();
  const [failure, setFailure] = useState<Failure>();
  const [isLoading, setLoading] = useState(false);
  const leaving = useRef(new AbortController());

  const load = useCallback(
    async (after: string | null, merge: (known: ShowList | undefined, page: ShowList) => ShowList) => {
      const { signal } = leaving.current;
      setLoading(true);
      try {
        const page = await readPage({ status, search }, after, { token, signal });
        if (signal.aborted) return;
        setList((known) => merge(known, page));
        setFailure(undefined);
      } catch (error) {
        if (!signal.aborted) setFailure(asFailure(error));
      } finally {
        if (!signal.aborted) setLoading(false);
      }
    },
    [token, status, search],
  );

  useEffect(() => {
    leaving.current = new AbortController();
    void load(null, (_, page) => page);
    const refresh = () => document.visibilityState === "visible" && void load(null, renewed);
    const timer = setInterval(refresh, refreshMs);
    addEventListener("online", refresh, { signal: leaving.current.signal });
    return () => {
      clearInterval(timer);
      leaving.current.abort();
    };
  }, [load]);

  const loadMore = () => void load(list?.next ?? null, extended);
  const reload = () => void load(null, renewed);
  return { list, failure, isLoading, loadMore, reload };
}

async function readPage(filter: ShowFilter, after: string | null, caller: Caller): Promise<ShowList> {
  const first = after === null ? pageSize : furtherPageSize;
  await readStore(caller);
  const { liveStreams } = await query(showsQuery, { first, after, ...filter }, caller);
  if (liveStreams === null) throw asFailure(undefined); // the query has thrown the error that says why
  const { nodes: shows, totalCount: total, pageInfo } = liveStreams;
  return { shows, total, next: pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null };
}
