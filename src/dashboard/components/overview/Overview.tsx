import { useEffect } from "preact/hooks";
import { formatRange } from "../../format.js";
import { useOverview } from "../../hooks/useOverview.js";
import { usePage } from "../../hooks/usePage.js";
import type { HistoryMode } from "../../hooks/useView.js";
import type { ShowSummary } from "../../queries/show.js";
import type { OverviewState, View } from "../../overview/view.js";
import type { Connection } from "../../connection/reconnect.js";
import { saveShows } from "../../connection/exports.js";
import { ExportButton } from "../ExportButton.js";
import { ConnectionNotice, ConnectionStatus } from "../ConnectionNotice.js";
import { Skeleton, StatusBadge } from "../Elements.js";
import { Link } from "../Link.js";
import { OverviewTiles } from "./OverviewTiles.js";
import { ProductTable } from "./ProductTable.js";
import { RangePicker } from "./RangePicker.js";
import { ShowGroups } from "./ShowGroups.js";
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
  const connection = worstOf(Object.values(parts).map((part) => part.connection));
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
                {formatRange(figures.from, figures.until)}, compared with{" "}
                {formatRange(figures.previous.from, figures.previous.until)}
              </>
            )}
          </p>
        </div>
        <div class="tools">
          <ConnectionStatus phase={connection.phase} />
          {figures !== undefined && <ExportButton save={() => saveShows(figures, { token })} />}
        </div>
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
function Body({ totals, table, best, shows, state, onState, onFollow }: BodyProps) {
  useKnownCursor(table.connection, state, onState);
  const currency = totals.value?.figures.currency;
  const rest = { state, onState, onFollow };
  return (
    <>
      {totals.value !== undefined && (
        <div class="stack" aria-busy={!totals.isCurrent}>
          <OverviewTiles figures={totals.value.figures} />
          <StoreTimeline
            {...totals.value}
            shows={shows.value}
            chart={state.chart}
            onChart={(chart) => onState({ chart }, "replace")}
          />
        </div>
      )}
      {table.value !== undefined && <ShowTable table={table.value} isCurrent={table.isCurrent} {...rest} />}
      {best.value !== undefined && (
        <ProductTable
          {...best.value}
          isCurrent={best.isCurrent}
          currency={currency}
          order={state.products}
          onOrder={(products) => onState({ products })}
        />
      )}
      {shows.value !== undefined && (
        <ShowGroups
          shows={shows.value}
          isCurrent={shows.isCurrent}
          currency={currency}
          by={state.by}
          onBy={(by) => onState({ by }, "replace")}
        />
      )}
    </>
  );
}

/** Goes to the first page where the cursor is refused, such as one of another order, or that somebody has mistyped. */
function useKnownCursor(connection: Connection, state: OverviewState, onState: OnState): void {
  const isRefused = connection.phase === "failed" && connection.failure.kind === "refused";
  useEffect(() => {
    if (isRefused && state.after !== undefined) onState({ after: undefined, page: 1 }, "replace");
  }, [isRefused, state, onState]);
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
