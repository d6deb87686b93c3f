import { useEffect, useLayoutEffect } from "preact/hooks";
import { formatDays } from "../../format.js";
import { useStoreFigures } from "../../hooks/useStoreFigures.js";
import type { How } from "../../hooks/useView.js";
import type { ShowSummary } from "../../operations.js";
import { type OverviewState, queryOf } from "../../overview/view.js";
import { ConnectionNotice, ConnectionStatus } from "../ConnectionNotice.js";
import { StatusBadge } from "../Elements.js";
import { Link } from "./Link.js";
import { OverviewTiles } from "./OverviewTiles.js";
import { RangePicker } from "./RangePicker.js";
import { StoreTimeline } from "./StoreTimeline.js";

interface Props {
  readonly token: string;
  readonly state: OverviewState;
  /** Live shows. */
  readonly live: readonly ShowSummary[];
  readonly onState: (change: Partial<OverviewState>, how?: How) => void;
  readonly onShow: (lsId: string) => void;
  readonly onTokenEnd: () => void;
}

/** Figures over the shows of a time. */
export function Overview({ token, state, live, onState, onShow, onTokenEnd }: Props) {
  const { value, isCurrent, connection } = useStoreFigures(token, state.range);
  const isTokenEnded = connection.phase === "failed" && connection.failure.kind === "unauthenticated";
  useEffect(() => {
    if (isTokenEnded) onTokenEnd();
  }, [isTokenEnded, onTokenEnd]);
  useLayoutEffect(() => {
    document.title = "Overview – Vitrine";
  }, []);
  const figures = value?.figures;
  return (
    <>
      <header class="show-header">
        <div>
          <h1>Overview</h1>
          <p class="muted">
            {figures !== undefined && (
              <>
                {formatDays(figures.from, figures.until)}, compared with{" "}
                {formatDays(figures.previous.from, figures.previous.until)}
              </>
            )}
          </p>
        </div>
        <ConnectionStatus phase={connection.phase} />
      </header>
      <RangePicker range={state.range} onRange={(range) => onState({ range, after: undefined, page: 1 })} />
      <ConnectionNotice connection={connection} hasFigures={figures !== undefined} isPolled={false} />
      <LiveNow shows={live} onShow={onShow} />
      {value === undefined ? (
        connection.phase === "connecting" && <Skeleton />
      ) : (
        <div class="stack" aria-busy={!isCurrent}>
          <OverviewTiles figures={value.figures} />
          <StoreTimeline {...value} chart={state.chart} onChart={(chart) => onState({ chart }, "replace")} />
        </div>
      )}
    </>
  );
}

function LiveNow({ shows, onShow }: { readonly shows: readonly ShowSummary[]; readonly onShow: Props["onShow"] }) {
  if (shows.length === 0) return null;
  return (
    <section class="live-now" aria-label="Live now">
      {shows.map(({ id, name, status }) => (
        <p key={id}>
          <StatusBadge status={status} />{" "}
          <Link query={queryOf({ kind: "show", lsId: id })} onFollow={() => onShow(id)}>
            <span dir="auto">{name}</span>
          </Link>
        </p>
      ))}
    </section>
  );
}

function Skeleton() {
  return (
    <div class="skeleton" role="status" aria-label="Loading the figures">
      <div class="tiles four">
        {["sales", "net", "orders", "viewers", "carts", "time", "rate", "shows"].map((tile) => (
          <div key={tile} class="tile" />
        ))}
      </div>
    </div>
  );
}
