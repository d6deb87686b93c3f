import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { LiveStreamStatus } from "../../generated/dashboard/graphql.js";
import { type Caller, query, readStore } from "../connection/api.js";
import { asFailure, type Failure } from "../connection/failure.js";
import { showsQuery, type ShowSummary } from "../queries/show.js";

const pageSize = 20;
const furtherPageSize = 100;
const refreshMs = 30_000;

export interface ShowFilter {
  readonly status: LiveStreamStatus | undefined;
  /** Words of the name; blank for all. */
  readonly search: string;
}

/** The store's shows that match the filter, refreshed every 30 seconds. The shows of the last filter stay until they are loaded. */
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

/** The loaded part of the list of shows, newest first. Scheduled shows come last, beginning with the next one. */
export interface ShowList {
  readonly shows: readonly ShowSummary[];
  /** The cursor of the next page; null if there is none. */
  readonly next: string | null;
  /** The number of all shows, loaded or not. */
  readonly total: number;
}

/** Replaces the first page of the list, and keeps the shows after it. */
export function renewed(known: ShowList | undefined, page: ShowList): ShowList {
  const last = page.shows.at(-1);
  if (known === undefined || last === undefined || page.next === null) return page;
  const others = known.shows.filter((show) => isAfter(show, last));
  return others.length === 0 ? page : { ...page, shows: [...page.shows, ...others], next: known.next };
}

function extended(known: ShowList | undefined, page: ShowList): ShowList {
  const ids = new Set(known?.shows.map(({ id }) => id));
  return { ...page, shows: [...(known?.shows ?? []), ...page.shows.filter(({ id }) => !ids.has(id))] };
}

export function byBeginning(shows: readonly ShowSummary[]) {
  return { begun: shows.filter((show) => !isScheduled(show)), scheduled: shows.filter(isScheduled) };
}

function isAfter(show: ShowSummary, other: ShowSummary): boolean {
  if (isScheduled(show) !== isScheduled(other)) return isScheduled(show);
  const [first, second] = isScheduled(show) ? [other, show] : [show, other];
  const laterMs = Date.parse(second.startedAt) - Date.parse(first.startedAt);
  return laterMs === 0 ? first.id < second.id : laterMs > 0;
}

function isScheduled({ status }: ShowSummary): boolean {
  return status === "SCHEDULED";
}
