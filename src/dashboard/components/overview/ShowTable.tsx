import { pageSize, type useOverview } from "../../hooks/useOverview.js";
import type { HistoryMode } from "../../hooks/useView.js";
import { formatCount } from "../../format.js";
import { isAscendingAtFirst, type OverviewState, type ShowColumn, type View } from "../../overview/view.js";
import { SearchInput } from "../Elements.js";
import { Link } from "../Link.js";
import { Pager } from "./Pager.js";
import { ShowRow } from "./ShowRow.js";
import { SortHeader } from "./SortHeader.js";

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
        onPage={(after, page) => isCurrent && onState({ after, page })} // what is asked for has other cursors
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

/** What has been chosen to be compared, also on other pages of the table. */
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
