import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { LiveStreamStatus } from "../../generated/dashboard/graphql.js";
import { query } from "../api.js";
import { asFailure, type Failure } from "../failure.js";
import { showsQuery } from "../operations.js";
import { extended, renewed, type ShowList } from "../showList.js";

const pageSize = 20;
const refreshMs = 30_000;

/** The store's shows, of one status or all, refreshed every 30 seconds. */
export function useShows(token: string, status: LiveStreamStatus | undefined) {
  const [list, setList] = useState<ShowList>();
  const [failure, setFailure] = useState<Failure>();
  const [isLoading, setLoading] = useState(false);
  const leaving = useRef(new AbortController());

  const load = useCallback(
    async (after: string | null, merge: (known: ShowList | undefined, page: ShowList) => ShowList) => {
      const { signal } = leaving.current;
      setLoading(true);
      try {
        const { liveStreams } = await query(showsQuery, { first: pageSize, after, status }, { token, signal });
        if (signal.aborted) return;
        const { hasNextPage, endCursor } = liveStreams.pageInfo;
        setList((known) => merge(known, { shows: liveStreams.nodes, next: hasNextPage ? endCursor : null }));
        setFailure(undefined);
      } catch (error) {
        if (!signal.aborted) setFailure(asFailure(error));
      } finally {
        if (!signal.aborted) setLoading(false);
      }
    },
    [token, status],
  );

  useEffect(() => {
    leaving.current = new AbortController();
    setList(undefined);
    void load(null, (_, page) => page);
    const refresh = () => {
      if (document.visibilityState === "visible") void load(null, renewed);
    };
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
