import { useEffect, useState } from "preact/hooks";
import { type ShowFilter, useShows } from "../hooks/useShows.js";
import { useStore } from "../hooks/useStore.js";
import { useUnlisted } from "../hooks/useUnlisted.js";
import { useView } from "../hooks/useView.js";
import type { View } from "../overview/view.js";
import { markAccepted } from "../session.js";
import { CurrentView } from "./CurrentView.js";
import { NewShow } from "./NewShow.js";
import { ShowList } from "./ShowList.js";
import { TopBar } from "./TopBar.js";

interface Props {
  readonly token: string;
  readonly onSignOut: () => void;
  readonly onRefused: () => void;
}

export function Dashboard({ token, onSignOut, onRefused }: Props) {
  const [filter, setFilter] = useState<ShowFilter>({ status: undefined, search: "" });
  const [isCreating, setCreating] = useState(false);
  const { view, go, overview } = useView();
  const store = useStore(token);
  const onNew = store?.scopes.includes("shows:write") === false ? undefined : () => setCreating(true);
  const shows = useShows(token, filter);
  const { list, failure } = shows;

  useEffect(() => {
    if (list !== undefined) markAccepted();
    if (failure?.kind === "unauthenticated") onRefused();
  }, [list, failure, onRefused]);

  const follow = (next: View) => {
    go(next);
    leaveOldView();
  };
  const onSaved = (lsId: string) => {
    setCreating(false);
    shows.reload();
    follow({ kind: "show", lsId });
  };
  const each = { token, view, overview, onNew, onFollow: follow };
  return (
    <div class="layout">
      <a class="skip" href="#show">
        Skip to the figures
      </a>
      <Navigation
        {...each}
        store={store?.name}
        shows={shows}
        filter={filter}
        onFilter={setFilter}
        onSignOut={onSignOut}
      />
      {isCreating && <NewShow token={token} onClose={() => setCreating(false)} onSaved={onSaved} />}
      <main id="show" tabIndex={-1}>
        <CurrentView
          {...each}
          list={list}
          isWholeList={filter.status === undefined && filter.search.trim() === ""}
          onChange={go}
          onTokenEnd={onRefused}
        />
      </main>
    </div>
  );
}

interface NavigationProps extends Pick<Parameters<typeof ShowList>[0], "shows" | "filter" | "onFilter" | "onNew"> {
  readonly token: string;
  readonly view: View;
  readonly overview: View;
  readonly store: string | undefined;
  readonly onFollow: (view: View) => void;
  readonly onSignOut: () => void;
}

function Navigation({ token, view, overview, store, onFollow, onSignOut, ...list }: NavigationProps) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [view]);
  const lsId = view.kind === "show" ? view.lsId : undefined;
  const unlisted = useUnlisted(token, lsId, list.shows.list);
  return (
    <>
      <TopBar
        store={store}
        overview={overview}
        isOverview={view.kind === "overview"}
        onView={onFollow}
        isListOpen={isOpen}
        onToggleList={() => setOpen(!isOpen)}
        onSignOut={onSignOut}
      />
      <ShowList
        {...list}
        selected={lsId}
        unlisted={unlisted}
        isOpen={isOpen}
        onSelect={(id) => onFollow({ kind: "show", lsId: id })}
      />
    </>
  );
}

/** What had the focus may be gone with the view that it was in. */
function leaveOldView(): void {
  const main = document.querySelector<HTMLElement>("#show");
  if (main?.contains(document.activeElement) === true) main.focus();
  scrollTo(0, 0);
}
