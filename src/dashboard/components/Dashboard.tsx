import { useEffect, useState } from "preact/hooks";
import { useSelection } from "../hooks/useSelection.js";
import { type ShowFilter, useShows } from "../hooks/useShows.js";
import { useStore } from "../hooks/useStore.js";
import { useUnlisted } from "../hooks/useUnlisted.js";
import { markAccepted } from "../session.js";
import type { ShowList as List } from "../showList.js";
import { NewShow } from "./NewShow.js";
import { NoShows } from "./NoShows.js";
import { Show } from "./Show.js";
import { ShowList } from "./ShowList.js";
import { TopBar } from "./TopBar.js";

interface Props {
  readonly token: string;
  readonly onSignOut: () => void;
  readonly onRefused: () => void;
}

/** The list of shows and the selected one: by default the newest live show, or else the newest. */
export function Dashboard({ token, onSignOut, onRefused }: Props) {
  const [filter, setFilter] = useState<ShowFilter>({ status: undefined, search: "" });
  const [isCreating, setCreating] = useState(false);
  const [isListOpen, setListOpen] = useState(false);
  const { lsId, select } = useSelection();
  const store = useStore(token);
  const onNew = store?.scopes.includes("shows:write") === false ? undefined : () => setCreating(true);
  const shows = useShows(token, filter);
  const { list, failure } = shows;
  const unlisted = useUnlisted(token, lsId, list);

  useDefault(list, lsId, select);
  useEffect(() => {
    if (list !== undefined) markAccepted();
    if (failure?.kind === "unauthenticated") onRefused();
  }, [list, failure, onRefused]);

  const choose = (id: string) => {
    select(id);
    setListOpen(false);
  };
  const hasNone =
    list?.shows.length === 0 && filter.status === undefined && filter.search.trim() === "" && lsId === undefined;
  return (
    <div class="layout">
      <a class="skip" href="#show">
        Skip to the show
      </a>
      <TopBar
        store={store?.name}
        isListOpen={isListOpen}
        onToggleList={() => setListOpen(!isListOpen)}
        onSignOut={onSignOut}
      />
      <ShowList
        shows={shows}
        selected={lsId}
        unlisted={unlisted}
        filter={filter}
        isOpen={isListOpen}
        onFilter={setFilter}
        onSelect={choose}
        onNew={onNew}
      />
      {isCreating && (
        <NewShow
          token={token}
          onClose={() => setCreating(false)}
          onSaved={(id) => {
            setCreating(false);
            shows.reload();
            choose(id);
          }}
        />
      )}
      <main id="show" tabIndex={-1}>
        {hasNone && <NoShows onNew={onNew} />}
        {lsId !== undefined && <Show key={lsId} token={token} lsId={lsId} onTokenEnd={onRefused} />}
      </main>
    </div>
  );
}

/** Selects the newest live show, or else the newest, where none is selected. */
function useDefault(list: List | undefined, lsId: string | undefined, select: (id: string, how: "replace") => void) {
  const first = list?.shows.find((show) => show.status === "LIVE") ?? list?.shows[0];
  useEffect(() => {
    if (lsId === undefined && first !== undefined) select(first.id, "replace");
  }, [lsId, first, select]);
}
