import type { LiveStreamStatus } from "../../generated/dashboard/graphql.js";
import { formatMoment } from "../format.js";
import type { ShowSummary } from "../operations.js";
import { addressOf } from "../hooks/useSelection.js";
import type { useShows } from "../hooks/useShows.js";
import { Segments, StatusBadge } from "./Elements.js";

interface Props {
  readonly shows: ReturnType<typeof useShows>;
  readonly selected: string | undefined;
  readonly status: LiveStreamStatus | undefined;
  /** On small screens, where it is hidden by default. */
  readonly isOpen: boolean;
  readonly onStatus: (status: LiveStreamStatus | undefined) => void;
  readonly onSelect: (lsId: string) => void;
}

const filters = [
  ["ALL", "All"],
  ["LIVE", "Live"],
  ["ENDED", "Ended"],
  ["ARCHIVED", "Archived"],
] as const;

/** The store's shows, newest first, a page at a time. */
export function ShowList({ shows, selected, status, isOpen, onStatus, onSelect }: Props) {
  const { list, failure, isLoading, loadMore, reload } = shows;
  return (
    <nav id="shows" class="shows" aria-labelledby="shows-heading" data-open={isOpen} aria-busy={isLoading}>
      <h2 id="shows-heading">Shows</h2>
      <Segments
        legend="Status"
        options={filters}
        value={status ?? "ALL"}
        onChange={(value) => onStatus(value === "ALL" ? undefined : value)}
      />
      {list?.shows.length === 0 && <p class="muted small">No shows.</p>}
      {list === undefined && failure === undefined && <p class="muted small">Loading…</p>}
      <ul>
        {list?.shows.map((show) => (
          <Item key={show.id} show={show} isSelected={show.id === selected} onSelect={onSelect} />
        ))}
      </ul>
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

interface ItemProps {
  readonly show: ShowSummary;
  readonly isSelected: boolean;
  readonly onSelect: (lsId: string) => void;
}

function Item({ show: { id, name, status, startedAt }, isSelected, onSelect }: ItemProps) {
  const choose = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab or window, as with any link
    event.preventDefault();
    onSelect(id);
  };
  return (
    <li>
      <a href={addressOf(id)} aria-current={isSelected ? "page" : undefined} onClick={choose}>
        <span class="show-name">{name}</span>
        <span class="show-when">
          <time dateTime={startedAt}>{formatMoment(startedAt)}</time>
          <StatusBadge status={status} />
        </span>
      </a>
    </li>
  );
}
