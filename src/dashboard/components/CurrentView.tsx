import type { HistoryMode } from "../hooks/useView.js";
import { queryOf, type View } from "../overview/view.js";
import type { ShowList } from "../showList.js";
import { NoShows } from "./NoShows.js";
import { Comparison } from "./overview/Comparison.js";
import { Link } from "./overview/Link.js";
import { Overview } from "./overview/Overview.js";
import { Show } from "./Show.js";

interface Props {
  readonly token: string;
  readonly view: View;
  /** The overview as it was left. */
  readonly overview: View;
  /** Undefined until it is known. */
  readonly list: ShowList | undefined;
  /** Whether it is that of all shows. */
  readonly isWholeList: boolean;
  /** Undefined where the token may not save shows. */
  readonly onNew: (() => void) | undefined;
  /** Changes the address and stays where it is. */
  readonly onChange: (view: View, how?: HistoryMode) => void;
  readonly onFollow: (view: View) => void;
  readonly onTokenEnd: () => void;
}

export function CurrentView({ view, overview, ...props }: Props) {
  if (view.kind === "overview") return <OverviewOrNone {...props} state={view.state} />;
  return (
    <>
      <p class="back">
        <Link query={queryOf(overview)} onFollow={() => props.onFollow(overview)}>
          ‹ Overview
        </Link>
      </p>
      {view.kind === "comparison" && <Comparison key={view.lsIds.join()} {...props} lsIds={view.lsIds} />}
      {view.kind === "show" && (
        <Show key={view.lsId} token={props.token} lsId={view.lsId} onTokenEnd={props.onTokenEnd} />
      )}
    </>
  );
}

type OverviewProps = Omit<Props, "view" | "overview"> & Pick<Extract<View, { kind: "overview" }>, "state">;

function OverviewOrNone({ token, state, list, isWholeList, onNew, onChange, onFollow, onTokenEnd }: OverviewProps) {
  if (list?.shows.length === 0 && isWholeList) return <NoShows onNew={onNew} />;
  return (
    <Overview
      token={token}
      state={state}
      live={list?.shows.filter(({ status }) => status === "LIVE") ?? []}
      onState={(change, how) => onChange({ kind: "overview", state: { ...state, ...change } }, how)}
      onFollow={onFollow}
      onTokenEnd={onTokenEnd}
    />
  );
}
