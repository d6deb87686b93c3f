import { useEffect, useState } from "preact/hooks";
import type { LiveStreamStatus } from "../../generated/dashboard/graphql.js";
import { useSelection } from "../hooks/useSelection.js";
import { useShows } from "../hooks/useShows.js";
import { Brand } from "./Elements.js";
import { NoShows } from "./NoShows.js";
import { Show } from "./Show.js";
import { ShowList } from "./ShowList.js";

interface Props {
  readonly token: string;
  readonly onSignOut: (reason?: string) => void;
}

/** The list of shows and the selected one: by default the newest live show, or else the newest. */
export function Dashboard({ token, onSignOut }: Props) {
  const [status, setStatus] = useState<LiveStreamStatus>();
  const [isListOpen, setListOpen] = useState(false);
  const { lsId, select } = useSelection();
  const shows = useShows(token, status);
  const { list, failure } = shows;

  const first = list?.shows.find((show) => show.status === "LIVE") ?? list?.shows[0];
  useEffect(() => {
    if (lsId === undefined && first !== undefined) select(first.id, "replace");
  }, [lsId, first, select]);
  useEffect(() => {
    if (failure?.kind === "unauthenticated") onSignOut(endedToken);
  }, [failure, onSignOut]);

  const choose = (id: string) => {
    select(id);
    setListOpen(false);
  };
  const hasNone = list?.shows.length === 0 && status === undefined && lsId === undefined;
  return (
    <div class="layout">
      <a class="skip" href="#show">
        Skip to the show
      </a>
      <header class="top">
        <Brand />
        <button
          class="list-toggle"
          type="button"
          aria-expanded={isListOpen}
          aria-controls="shows"
          onClick={() => setListOpen(!isListOpen)}
        >
          Shows
        </button>
        <button type="button" onClick={() => onSignOut()}>
          Sign out
        </button>
      </header>
      <ShowList
        shows={shows}
        selected={lsId}
        status={status}
        isOpen={isListOpen}
        onStatus={setStatus}
        onSelect={choose}
      />
      <main id="show" tabIndex={-1}>
        {hasNone && <NoShows />}
        {lsId !== undefined && <Show key={lsId} token={token} lsId={lsId} onTokenEnd={() => onSignOut(endedToken)} />}
      </main>
    </div>
  );
}

const endedToken = "The access token no longer works: it was revoked or has expired. Enter another one.";
