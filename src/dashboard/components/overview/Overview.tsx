import { useEffect } from "preact/hooks";
import { formatDays } from "../../format.js";
import { useOverview } from "../../hooks/useOverview.js";
import { usePage } from "../../hooks/usePage.js";
import type { HistoryMode } from "../../hooks/useView.js";
import type { ShowSummary } from "../../queries/show.js";
import type { OverviewState, View } from "../../overview/view.js";
import type { Connection } from "../../connection/reconnect.js";
import { ConnectionNotice, ConnectionStatus } from "../ConnectionNotice.js";
import { Skeleton, StatusBadge } from "../Elements.js";
import { Link } from "../Link.js";
import { OverviewTiles } from "./OverviewTiles.js";
import { ProductTable } from "./ProductTable.js";
import { RangePicker } from "./RangePicker.js";
import { ShowTable } from "./ShowTable.js";
import { StoreTimeline } from "./StoreTimeline.js";

interface Props {
  readonly token: string;
  readonly state: OverviewState;
  readonly live: readonly ShowSummary[];
  /** Changes the address and stays where it is. */
  readonly onChange: (view: View, how?: HistoryMode) => void;
  readonly onFollow: (view: View) => void;
  readonly onTokenEnd: () => void;
}

export function Overview({ token, state, live, onChange, onFollow, onTokenEnd }: Props) {
  const onState: OnState = (change, how) => onChange({ kind: "overview", state: { ...state, ...change } }, how);
  const parts = useOverview(token, state);
  const connection = worstOf([parts.totals, parts.table, parts.best].map((part) => part.connection));
  usePage("Overview – Vitrine", connection, onTokenEnd);
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
      <LiveNow live={live} onFollow={onFollow} />
      {figures === undefined && connection.phase === "connecting" && <Skeleton label="Loading the figures" tiles={8} />}
      <Body {...parts} state={state} onState={onState} onFollow={onFollow} />
    </>
  );
}

type OnState = (change: Partial<OverviewState>, how?: HistoryMode) => void;

type BodyProps = ReturnType<typeof useOverview> & Pick<Props, "state" | "onFollow"> & { readonly onState: OnState };

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

function LiveNow({ live, onFollow }: Pick<Props, "live" | "onFollow">) {
  if (live.length === 0) return null;
  return (
    <section class="live-now" aria-label="Live now">
      {live.map(({ id, name, status }) => (
        <p key={id}>
          <StatusBadge status={status} />{" "}
          <Link view={{ kind: "show", lsId: id }} onFollow={onFollow}>
            <span dir="auto">{name}</span>
          </Link>
        </p>
      ))}
    </section>
  );
}
