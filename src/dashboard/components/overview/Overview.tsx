import { useEffect, useState } from "preact/hooks";
import { formatRange } from "../../format.js";
import { useOverview } from "../../hooks/useOverview.js";
import { usePage, ConnectionNotice, ConnectionStatus } from "../ConnectionNotice.js";
import type { HistoryMode, OverviewState, View } from "../../overview/view.js";
import type { ShowSummary } from "../../queries/show.js";
import type { Connection } from "../../connection/reconnect.js";
import { saveShows, ExportButton } from "../ExportButton.js";
import { Skeleton, StatusBadge, Problem, Segments, Link } from "../Elements.js";
import { HostTable } from "./HostTable.js";
import { OverviewTiles } from "./OverviewTiles.js";
import { ProductTable } from "./ProductTable.js";
import { ShowGroups } from "./ShowGroups.js";
import { ShowTable } from "./ShowTable.js";
import { StoreTimeline } from "./StoreTimeline.js";
import type { TargetedSubmitEvent } from "preact";
import { type DayCount, dayCounts, datesOf, type OwnDates, problemOfDates, type Range } from "../../overview/range.js";

interface Props {
  readonly token: string;
  readonly state: OverviewState;
  readonly live: readonly ShowSummary[];
  /** Changes the address, without scrolling or moving the focus. */
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

/** Shows each part as soon as it has arrived. */
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
      {shows.value !== undefined && shows.value.hosts.length > 0 && (
        <HostTable hosts={shows.value.hosts} isCurrent={shows.isCurrent} currency={currency} />
      )}
    </>
  );
}

/** Goes to the first page if the server refuses the cursor, such as one of another order, or a mistyped one. */
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

interface RangeProps {
  readonly range: Range;
  readonly onRange: (range: Range) => void;
}

type Choice = `${DayCount}` | "month" | "own";
const choices: readonly (readonly [Choice, string])[] = [
  ...dayCounts.map((days): [Choice, string] => [`${days}`, `${days} days`]),
  ["month", "This month"],
  ["own", "Own dates"],
];

/** Chooses the last days, this month, or own dates, which start as the days of the range before. */
function RangePicker({ range, onRange }: RangeProps) {
  const choose = (choice: Choice) => {
    if (choice === "month") return onRange(choice);
    onRange(choice === "own" ? datesOf(range) : (Number(choice) as DayCount));
  };
  return (
    <div class="range">
      <Segments
        legend="Time"
        options={choices}
        value={typeof range === "object" ? "own" : `${range}`}
        onChange={choose}
      />
      {typeof range === "object" && <DatesForm range={range} onRange={onRange} />}
    </div>
  );
}

function DatesForm({ range, onRange }: { readonly range: OwnDates; readonly onRange: (range: Range) => void }) {
  const [dates, setDates] = useState(range);
  const [problem, setProblem] = useState<string>();
  useEffect(() => setDates(range), [range.firstDay, range.lastDay]);
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const found = problemOfDates(dates);
    setProblem(found);
    if (found === undefined) onRange(dates);
  };
  const field = (label: string, key: keyof OwnDates) => (
    <label class="small">
      <span>{label}</span>
      <input
        type="date"
        value={dates[key]}
        aria-describedby="dates-problem"
        onInput={({ currentTarget }) => setDates({ ...dates, [key]: currentTarget.value })}
      />
    </label>
  );
  return (
    <form class="dates" noValidate onSubmit={submit}>
      {field("From", "firstDay")}
      {field("To", "lastDay")}
      <button type="submit">Apply</button>
      <Problem id="dates-problem" text={problem} />
    </form>
  );
}
