import { pageSize, type useOverview } from "../../hooks/useOverview.js";
import {
  type HistoryMode,
  isAscendingAtFirst,
  type OverviewState,
  type ShowColumn,
  type View,
} from "../../overview/view.js";
import {
  formatCount,
  formatDuration,
  formatMoment,
  formatRate,
  moneyFormat,
  averagesOf,
  orDash,
} from "../../format.js";
import { SearchInput, StatusBadge, Link } from "../Elements.js";
import { SortHeader } from "../FigureTable.js";
import type { ListedShow } from "../../queries/store.js";
import { useRef } from "preact/hooks";

type Table = NonNullable<ReturnType<typeof useOverview>["table"]["value"]>;

interface Props {
  readonly table: Table;
  readonly isCurrent: boolean;
  readonly state: OverviewState;
  readonly onState: (change: Partial<OverviewState>, how?: HistoryMode) => void;
  readonly onFollow: (view: View) => void;
}

const firstPage = { after: undefined, page: 1 };

export function ShowTable({ table, isCurrent, state, onState, onFollow }: Props) {
  const { search, picked } = state;
  return (
    <section class="card" aria-labelledby="show-table-heading" aria-busy={!isCurrent}>
      <header class="card-header">
        <h2 id="show-table-heading">Shows in this time</h2>
        <div class="tools">
          <Comparing picked={picked} onState={onState} onFollow={onFollow} />
          <SearchInput
            label="Search in these shows"
            value={search}
            onSearch={(next) => onState({ search: next, ...firstPage }, "replace")}
          />
        </div>
      </header>
      {table.nodes.length === 0 ? (
        <p class="muted">{search.trim() === "" ? "No show started in this time." : "No such show in this time."}</p>
      ) : (
        <Rows table={table} state={state} onState={onState} onFollow={onFollow} />
      )}
      <Pager
        page={table.page}
        isFirst={table.isFirst}
        next={table.pageInfo.hasNextPage ? table.pageInfo.endCursor : null}
        text={rangeText(table)}
        onPage={(after, page) => isCurrent && onState({ after, page })} // these cursors are wrong for the page that is being loaded
      />
    </section>
  );
}

function rangeText({ nodes, totalCount, totalCountIsExact, page }: Table): string {
  const first = (page - 1) * pageSize + 1;
  if (nodes.length === 0) return "";
  const total = `${totalCountIsExact ? "" : "more than "}${formatCount(totalCount)}`;
  return `${formatCount(first)}–${formatCount(first + nodes.length - 1)} of ${total}`;
}

function Rows({ table, state, onState, onFollow }: Omit<Props, "isCurrent">) {
  const { picked } = state;
  const hasRefunds = table.nodes.some(({ kpis }) => (kpis?.refunds.total ?? 0) > 0);
  const pick = (lsId: string, isPicked: boolean) =>
    onState({ picked: isPicked ? [...picked, lsId] : picked.filter((id) => id !== lsId) }, "replace");
  return (
    <div class="scroll wide" tabIndex={0} role="region" aria-label="Shows">
      <table class="show-table stacked">
        <Heads state={state} onState={onState} hasRefunds={hasRefunds} />
        <tbody>
          {table.nodes.map((show) => (
            <ShowRow
              key={show.id}
              show={show}
              hasRefunds={hasRefunds}
              isPicked={picked.includes(show.id)}
              mayPick={picked.length < 2}
              onPick={(isPicked) => pick(show.id, isPicked)}
              onFollow={onFollow}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Heads({ state, onState, hasRefunds }: Pick<Props, "state" | "onState"> & { readonly hasRefunds: boolean }) {
  const { order, isAscending } = state;
  const sort = (column: ShowColumn) => {
    const next = order === column ? !isAscending : isAscendingAtFirst(column);
    onState({ order: column, isAscending: next, ...firstPage });
  };
  const head = (label: string, column: ShowColumn) => (
    <SortHeader label={label} isSorted={order === column} isAscending={isAscending} onSort={() => sort(column)} />
  );
  return (
    <thead>
      <tr>
        <td>
          <span class="hidden">Compare</span>
        </td>
        {head("Show", "name")}
        {head("Start", "started")}
        {head("Sales", "sales")}
        {hasRefunds && <th scope="col">Net sales</th>}
        {head("Orders", "orders")}
        {head("Viewers", "viewers")}
        <th scope="col">Add to cart</th>
        <th scope="col">View time</th>
      </tr>
    </thead>
  );
}

/** The shows that were picked to be compared, which may be on other pages of the table. */
function Comparing({ picked, onState, onFollow }: Pick<Props, "onState" | "onFollow"> & Pick<OverviewState, "picked">) {
  const [one, other] = picked;
  if (one === undefined) return null;
  const clear = (
    <button type="button" onClick={() => onState({ picked: [] }, "replace")}>
      Clear
    </button>
  );
  if (other === undefined) {
    return (
      <p class="comparing">
        <span class="muted small">Choose another show to compare.</span> {clear}
      </p>
    );
  }
  const comparison: View = { kind: "comparison", lsIds: [one, other] };
  return (
    <p class="comparing">
      <Link class="button primary" view={comparison} onFollow={onFollow}>
        Compare 2 shows
      </Link>{" "}
      {clear}
    </p>
  );
}

interface RowProps {
  readonly show: ListedShow;
  readonly hasRefunds: boolean;
  readonly isPicked: boolean;
  /** Whether another show may be picked. */
  readonly mayPick: boolean;
  readonly onPick: (isPicked: boolean) => void;
  readonly onFollow: (view: View) => void;
}

function ShowRow({ show: { id, name, status, startedAt, kpis }, hasRefunds, ...row }: RowProps) {
  const { isPicked, mayPick, onPick, onFollow } = row;
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={`Compare ${name}`}
          checked={isPicked}
          disabled={!isPicked && !mayPick}
          onChange={({ currentTarget }) => onPick(currentTarget.checked)}
        />
      </td>
      <th scope="row">
        <Link class="name" dir="auto" view={{ kind: "show", lsId: id }} onFollow={onFollow}>
          {name}
        </Link>
        {status !== "ENDED" && <StatusBadge status={status} />}
      </th>
      <td data-label="Start">
        <time dateTime={startedAt}>{formatMoment(startedAt)}</time>
      </td>
      {kpis && <Figures kpis={kpis} hasRefunds={hasRefunds} />}
    </tr>
  );
}

type FiguresProps = Pick<RowProps, "hasRefunds"> & { readonly kpis: NonNullable<ListedShow["kpis"]> };

function Figures({ kpis, hasRefunds }: FiguresProps) {
  const formatMoney = moneyFormat(kpis.sales.currency);
  const { addToCart, avgViewTime } = averagesOf(kpis);
  return (
    <>
      <td data-label="Sales">{formatMoney(kpis.sales.total)}</td>
      {hasRefunds && <td data-label="Net sales">{formatMoney(kpis.netSales.total)}</td>}
      <td data-label="Orders">{formatCount(kpis.orders.total)}</td>
      <td data-label="Viewers">{formatCount(kpis.viewers.total)}</td>
      <td data-label="Add to cart">{orDash(formatRate)(addToCart)}</td>
      <td data-label="View time">{orDash(formatDuration)(avgViewTime)}</td>
    </>
  );
}

interface PagerProps {
  /** From 1. */
  readonly page: number;
  readonly isFirst: boolean;
  /** The cursor of the next page; null if there is none. */
  readonly next: string | null | undefined;
  readonly text: string;
  /** @param after the cursor after which the page begins; undefined for the first page */
  readonly onPage: (after: string | undefined, page: number) => void;
}

/** Cursors only lead forward. We know the page before if the user came from it; otherwise we offer the first page. */
function Pager({ page, isFirst, next, text, onPage }: PagerProps) {
  const cursors = useRef(new Map<number, string | undefined>([[1, undefined]]));
  const before = page - 1;
  const isKnown = cursors.current.has(before);
  const goNext = () => {
    if (typeof next !== "string") return;
    cursors.current.set(page + 1, next);
    onPage(next, page + 1);
  };
  const goBack = () => (isKnown ? onPage(cursors.current.get(before), before) : onPage(undefined, 1));
  return (
    <div class="pager">
      <p class="muted small">{text}</p>
      {!isFirst && (
        <button type="button" onClick={goBack}>
          {isKnown ? "Previous" : "First page"}
        </button>
      )}
      {typeof next === "string" && (
        <button type="button" onClick={goNext}>
          Next
        </button>
      )}
    </div>
  );
}
