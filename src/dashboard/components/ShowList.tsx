import { useEffect, useRef } from "preact/hooks";
import type { LiveStreamStatus } from "../../generated/dashboard/graphql.js";
import { formatCount, formatMoment } from "../format.js";
import type { ShowSummary } from "../queries/show.js";
import { type ShowFilter, type useShows, byBeginning } from "../hooks/useShows.js";
import type { View } from "../overview/view.js";
import { SearchInput, StatusBadge, Link } from "./Elements.js";

interface Props {
  readonly shows: ReturnType<typeof useShows>;
  readonly selected: string | undefined;
  /** The selected show, if it is not in the loaded part of the list. */
  readonly unlisted: ShowSummary | undefined;
  readonly filter: ShowFilter;
  /** Only has an effect on small screens, which hide the list by default. */
  readonly isOpen: boolean;
  readonly onFilter: (filter: ShowFilter) => void;
  readonly onFollow: (view: View) => void;
  readonly onNew: (() => void) | undefined;
}

/** The store's shows, newest first and scheduled ones last, one page at a time. */
export function ShowList({ shows, filter, isOpen, onFilter, onNew, ...items }: Props) {
  const { list, failure, isLoading, loadMore, reload } = shows;
  return (
    <nav id="shows" class="shows" aria-labelledby="shows-heading" data-open={isOpen} aria-busy={isLoading}>
      <div class="shows-header">
        <h2 id="shows-heading" class="muted small">
          Shows
        </h2>
        {onNew !== undefined && (
          <button type="button" onClick={onNew}>
            New show
          </button>
        )}
      </div>
      <Filter filter={filter} onFilter={onFilter} />
      <p class="muted small" role="status">
        {list !== undefined && `${formatCount(list.total)} ${list.total === 1 ? "show" : "shows"}`}
        {list === undefined && failure === undefined && "Loading…"}
      </p>
      <Lists {...items} shows={list?.shows ?? []} />
      {failure !== undefined && (
        <p class="small">
          {failure.message}{" "}
          <button type="button" onClick={reload}>
            Try again
          </button>
        </p>
      )}
      {typeof list?.next === "string" && (
        <button class="more" type="button" aria-disabled={isLoading} onClick={loadMore}>
          Show more
        </button>
      )}
    </nav>
  );
}

type ListsProps = Pick<Props, "selected" | "unlisted" | "onFollow"> & { readonly shows: readonly ShowSummary[] };

function Lists({ shows, selected, unlisted, onFollow }: ListsProps) {
  const { begun, scheduled } = byBeginning(shows);
  const items = (some: readonly ShowSummary[], hasStatus = true) => (
    <ul>
      {some.map((show) => (
        <Item key={show.id} show={show} hasStatus={hasStatus} isSelected={show.id === selected} onFollow={onFollow} />
      ))}
    </ul>
  );
  return (
    <>
      {unlisted !== undefined && (
        <div class="unlisted">
          <h3 class="muted small">Selected</h3>
          {items([unlisted])}
        </div>
      )}
      {begun.length > 0 && items(begun)}
      {scheduled.length > 0 && (
        <>
          <h3 class="muted small">Scheduled</h3>
          {items(scheduled, false)}
        </>
      )}
    </>
  );
}

const statuses = [
  ["", "All"],
  ["LIVE", "Live"],
  ["SCHEDULED", "Scheduled"],
  ["ENDED", "Ended"],
  ["ARCHIVED", "Archived"],
] as const;

function Filter({ filter, onFilter }: Pick<Props, "filter" | "onFilter">) {
  const choose = (value: string) =>
    onFilter({ ...filter, status: value === "" ? undefined : (value as LiveStreamStatus) });
  return (
    <search class="filter">
      <SearchInput label="Search shows" value={filter.search} onSearch={(search) => onFilter({ ...filter, search })} />
      <select
        aria-label="Status"
        value={filter.status ?? ""}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        {statuses.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </search>
  );
}

interface ItemProps {
  readonly show: ShowSummary;
  /** False below a heading that already says the status. */
  readonly hasStatus: boolean;
  readonly isSelected: boolean;
  readonly onFollow: (view: View) => void;
}

function Item({ show: { id, name, status, startedAt }, hasStatus, isSelected, onFollow }: ItemProps) {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (isSelected && link.current !== null) reveal(link.current);
  }, [isSelected]);
  const view: View = { kind: "show", lsId: id };
  return (
    <li>
      <Link anchor={link} view={view} onFollow={onFollow} aria-current={isSelected ? "page" : undefined}>
        <span class="show-name" dir="auto">
          {name}
        </span>
        <span class="show-when muted small">
          <time dateTime={startedAt}>{formatMoment(startedAt)}</time>
          {hasStatus && <StatusBadge status={status} />}
        </span>
      </Link>
    </li>
  );
}

/** Scrolls the list to a show. `scrollIntoView` would also change where Tab continues. */
function reveal(link: HTMLElement): void {
  const list = link.closest(".shows");
  if (list === null) return;
  const [{ top, bottom }, box] = [link.getBoundingClientRect(), list.getBoundingClientRect()];
  if (top < box.top) list.scrollTop -= box.top - top;
  else if (bottom > box.bottom) list.scrollTop += bottom - box.bottom;
}
