import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { LiveStreamStatus } from "../generated/dashboard/graphql.js";
import { query } from "./api.js";
import { asFailure, type Failure } from "./failure.js";
import { type ShowSummary, showsQuery } from "./operations.js";

/** The list of shows, as far as it was read. */
export interface ShowList {
  readonly shows: readonly ShowSummary[];
  /** Where the next page begins; null where there is none. */
  readonly next: string | null;
}

const pageSize = 20;
const refreshMs = 30_000;

/** The store's shows of a status, or all; new ones are noticed within half a minute. */
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

/** The list with its first page as it is now. */
function renewed(known: ShowList | undefined, page: ShowList): ShowList {
  const fresh = new Set(page.shows.map(({ id }) => id));
  const others = known?.shows.slice(page.shows.length).filter(({ id }) => !fresh.has(id)) ?? [];
  return others.length === 0 ? page : { shows: [...page.shows, ...others], next: known?.next ?? null };
}

function extended(known: ShowList | undefined, page: ShowList): ShowList {
  const ids = new Set(known?.shows.map(({ id }) => id));
  return { shows: [...(known?.shows ?? []), ...page.shows.filter(({ id }) => !ids.has(id))], next: page.next };
}
