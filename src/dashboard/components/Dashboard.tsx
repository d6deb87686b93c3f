import { useEffect, useState } from "preact/hooks";
import { type ShowFilter, useShows } from "../hooks/useShows.js";
import { useView, type View } from "../overview/view.js";
import { type ShowSummary, showTimesQuery, storeQuery } from "../queries/show.js";
import { markAccepted } from "../session.js";
import { Link, Brand } from "./Elements.js";
import { NewShow } from "./NewShow.js";
import { Comparison } from "./overview/Comparison.js";
import { Overview } from "./overview/Overview.js";
import { ShowList } from "./ShowList.js";
import { Show } from "./show/Show.js";
import { Wall } from "./Wall.js";
import type { TypedDocumentString } from "../../generated/dashboard/graphql.js";
import { query } from "../connection/api.js";

interface Props {
  readonly token: string;
  readonly onSignOut: () => void;
  readonly onRefused: () => void;
}

export function Dashboard({ token, onSignOut, onRefused }: Props) {
  const [filter, setFilter] = useState<ShowFilter>({ status: undefined, search: "" });
  const [isCreating, setCreating] = useState(false);
  const { view, go, follow, overview } = useView();
  const store = useAnswer(storeQuery, {}, token)?.store;
  const mayWrite = store?.scopes.includes("shows:write");
  const onNew = mayWrite === false ? undefined : () => setCreating(true);
  const shows = useShows(token, filter);
  const { list, failure } = shows;
  useEffect(() => {
    if (list !== undefined) markAccepted();
    if (failure?.kind === "unauthenticated") onRefused();
  }, [list, failure, onRefused]);
  const onSaved = (lsId: string) => {
    setCreating(false);
    shows.reload();
    follow({ kind: "show", lsId });
  };
  if (view.kind === "wall") return <Wall token={token} shows={list?.shows} lsId={view.lsId} onTokenEnd={onRefused} />;
  const each = { token, view, overview, onNew, onFollow: follow };
  const navigation = { store: store?.name, shows, filter, onFilter: setFilter, onSignOut };
  return (
    <div class="layout">
      <a class="skip" href="#show">
        Skip to the figures
      </a>
      <Navigation {...each} {...navigation} />
      {isCreating && <NewShow token={token} onClose={() => setCreating(false)} onSaved={onSaved} />}
      <main id="show" tabIndex={-1}>
        <CurrentView
          {...each}
          {...stateOf(list?.shows ?? [], list !== undefined && isAll(filter))}
          mayWrite={mayWrite === true}
          onChange={go}
          onTokenEnd={onRefused}
        />
      </main>
    </div>
  );
}

function isAll({ status, search }: ShowFilter): boolean {
  return status === undefined && search.trim() === "";
}

/** @param isWhole whether these are all shows, without a filter */
function stateOf(shows: readonly ShowSummary[], isWhole: boolean) {
  return { isEmpty: isWhole && shows.length === 0, live: shows.filter(({ status }) => status === "LIVE") };
}

interface ViewProps {
  readonly token: string;
  readonly view: ShownView;
  /** The overview as the user left it. */
  readonly overview: View;
  /** Undefined if the token may not save shows. */
  readonly onNew: (() => void) | undefined;
  readonly onFollow: (view: View) => void;
}

type ShownView = Exclude<View, { kind: "wall" }>;
type OverviewProps = Parameters<typeof Overview>[0];

interface CurrentViewProps extends ViewProps, Pick<OverviewProps, "live" | "onChange" | "onTokenEnd"> {
  /** Whether the store is known to have no shows. */
  readonly isEmpty: boolean;
  readonly mayWrite: boolean;
}

function CurrentView({ view, overview, isEmpty, mayWrite, onNew, ...props }: CurrentViewProps) {
  if (view.kind === "overview") {
    return isEmpty ? <NoShows onNew={onNew} /> : <Overview {...props} state={view.state} />;
  }
  return (
    <>
      <p class="back">
        <Link view={overview} onFollow={props.onFollow}>
          ‹ Overview
        </Link>
      </p>
      {view.kind === "comparison" ? (
        <Comparison key={view.lsIds.join()} {...props} lsIds={view.lsIds} />
      ) : (
        <Show key={view.lsId} {...props} lsId={view.lsId} mayWrite={mayWrite} />
      )}
    </>
  );
}

interface NavigationProps extends ViewProps, Pick<Parameters<typeof ShowList>[0], "shows" | "filter" | "onFilter"> {
  readonly store: string | undefined;
  readonly onSignOut: () => void;
}

function Navigation({ token, view, overview, store, onSignOut, ...list }: NavigationProps) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [view]);
  const lsId = view.kind === "show" ? view.lsId : undefined;
  const known = list.shows.list?.shows;
  const isMissing = lsId !== undefined && known !== undefined && !known.some(({ id }) => id === lsId);
  const found = useAnswer(showTimesQuery, isMissing ? { lsId } : undefined, token)?.liveStream; // if this fails, Show says why
  return (
    <>
      <TopBar
        store={store}
        overview={overview}
        isOverview={view.kind === "overview"}
        onFollow={list.onFollow}
        isListOpen={isOpen}
        onToggleList={() => setOpen(!isOpen)}
        onSignOut={onSignOut}
      />
      <ShowList
        {...list}
        selected={lsId}
        unlisted={isMissing && found?.id === lsId ? found : undefined}
        isOpen={isOpen}
      />
    </>
  );
}

interface TopBarProps {
  /** Undefined until it is known. */
  readonly store: string | undefined;
  readonly overview: View;
  readonly isOverview: boolean;
  readonly onFollow: (view: View) => void;
  readonly isListOpen: boolean;
  readonly onToggleList: () => void;
  readonly onSignOut: () => void;
}

/** Names the store, and links to the overview. On small screens, it opens the list of shows. */
function TopBar({ store, overview, isOverview, onFollow, isListOpen, onToggleList, onSignOut }: TopBarProps) {
  const current = isOverview ? "page" : undefined;
  return (
    <header class="top">
      <div class="where">
        <Link view={overview} onFollow={onFollow} class="home" aria-label="Vitrine: overview" aria-current={current}>
          <Brand />
        </Link>
        <p class="store muted" dir="auto" title={store}>
          {store}
        </p>
      </div>
      <button class="list-toggle" type="button" aria-expanded={isListOpen} aria-controls="shows" onClick={onToggleList}>
        Shows
      </button>
      <button type="button" onClick={onSignOut}>
        Sign out
      </button>
    </header>
  );
}

function NoShows({ onNew }: { readonly onNew: (() => void) | undefined }) {
  return (
    <div class="empty card">
      <h1>No shows yet</h1>
      <p class="muted">
        A show appears here as soon as it is saved: by your shop, over <a href="graphql">GraphQL</a>
        {onNew !== undefined && ", or here"}.
      </p>
      {onNew === undefined ? (
        <p class="muted small">
          To create shows here, the access token needs the scope <code>shows:write</code>.
        </p>
      ) : (
        <button class="primary" type="button" onClick={onNew}>
          Create the first show
        </button>
      )}
    </div>
  );
}

/**
 * The answer to a query, which is sent again when its variables change. Undefined until the answer arrives, and if the query fails:
 * components must work without it.
 *
 * @param variables undefined while there is nothing to ask for, which keeps the last answer
 */
function useAnswer<Result, Variables>(
  operation: TypedDocumentString<Result, Variables>,
  variables: Variables | undefined,
  token: string,
): Result | undefined {
  const [answer, setAnswer] = useState<Result>();
  useEffect(() => {
    if (variables === undefined) return undefined;
    const leaving = new AbortController();
    query(operation, variables, { token, signal: leaving.signal }).then(setAnswer, () => undefined);
    return () => leaving.abort();
  }, [operation, JSON.stringify(variables), token]);
  return answer;
}
