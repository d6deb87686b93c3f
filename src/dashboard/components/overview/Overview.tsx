import { useEffect, useLayoutEffect } from "preact/hooks";
import { formatDays } from "../../format.js";
import { useOverview } from "../../hooks/useOverview.js";
import type { HistoryMode } from "../../hooks/useView.js";
import type { ShowSummary } from "../../operations.js";
import { type OverviewState, queryOf, type View } from "../../overview/view.js";
import type { Connection } from "../../reconnect.js";
import { ConnectionNotice, ConnectionStatus } from "../ConnectionNotice.js";
import { StatusBadge } from "../Elements.js";
import { Link } from "./Link.js";
import { OverviewTiles } from "./OverviewTiles.js";
import { ProductTable } from "./ProductTable.js";
import { RangePicker } from "./RangePicker.js";
import { ShowTable } from "./ShowTable.js";
import { StoreTimeline } from "./StoreTimeline.js";

interface Props {
  readonly token: string;
  readonly state: OverviewState;
  readonly live: readonly ShowSummary[];
  readonly onState: (change: Partial<OverviewState>, how?: HistoryMode) => void;
  readonly onFollow: (view: View) => void;
  readonly onTokenEnd: () => void;
}

export function Overview({ token, state, live, onState, onFollow, onTokenEnd }: Props) {
  const parts = useOverview(token, state);
  const connection = worstOf([parts.totals, parts.table, parts.best].map((part) => part.connection));
  const isTokenEnded = connection.phase === "failed" && connection.failure.kind === "unauthenticated";
  useEffect(() => {
    if (isTokenEnded) onTokenEnd();
  }, [isTokenEnded, onTokenEnd]);
  useLayoutEffect(() => {
    document.title = "Overview – Vitrine";
  }, []);
  const figures = parts.totals.value?.figures;
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
      <LiveNow shows={live} onShow={(lsId) => onFollow({ kind: "show", lsId })} />
      {figures === undefined && connection.phase === "connecting" && <Skeleton />}
      <Body {...parts} state={state} onState={onState} onFollow={onFollow} />
    </>
  );
}

type BodyProps = ReturnType<typeof useOverview> & Pick<Props, "state" | "onState" | "onFollow">;

/** Each part as soon as it has arrived. */
function Body({ totals, table, best, state, onState, onFollow }: BodyProps) {
  const isRefused = table.connection.phase === "failed" && table.connection.failure.kind === "refused";
  useEffect(() => {
    // Such as a cursor that is of another order, or that somebody has mistyped.
    if (isRefused && state.after !== undefined) onState({ after: undefined, page: 1 }, "replace");
  }, [isRefused, state, onState]);
  return (
    <>
      {totals.value !== undefined && (
        <div class="stack" aria-busy={!totals.isCurrent}>
          <OverviewTiles figures={totals.value.figures} />
          <StoreTimeline {...totals.value} chart={state.chart} onChart={(chart) => onState({ chart }, "replace")} />
        </div>
      )}
      {table.value !== undefined && (
        <ShowTable
          table={table.value}
          isCurrent={table.isCurrent}
          state={state}
          onState={onState}
          onFollow={onFollow}
        />
      )}
      {best.value !== undefined && (
        <ProductTable
          {...best.value}
          isCurrent={best.isCurrent}
          currency={totals.value?.figures.currency}
          order={state.products}
          onOrder={(products) => onState({ products })}
        />
      )}
    </>
  );
}

const phases = ["failed", "waiting", "connecting", "open"] as const;

function worstOf(connections: readonly Connection[]): Connection {
  const [worst = { phase: "connecting" }] = connections.toSorted(
    (one, other) => phases.indexOf(one.phase) - phases.indexOf(other.phase),
  );
  return worst;
}

function LiveNow({
  shows,
  onShow,
}: {
  readonly shows: readonly ShowSummary[];
  readonly onShow: (lsId: string) => void;
}) {
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
