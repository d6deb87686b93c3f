import type { ShowSummary } from "./queries/show.js";

/** The loaded part of the list of shows, newest first; those that are scheduled come last, the next one first. */
export interface ShowList {
  readonly shows: readonly ShowSummary[];
  /** The cursor of the next page; null where there is none. */
  readonly next: string | null;
  /** How many there are in all, loaded or not. */
  readonly total: number;
}

/** The list with a new first page; shows after that page are kept. */
export function renewed(known: ShowList | undefined, page: ShowList): ShowList {
  const last = page.shows.at(-1);
  if (known === undefined || last === undefined || page.next === null) return page;
  const others = known.shows.filter((show) => isAfter(show, last));
  return others.length === 0 ? page : { ...page, shows: [...page.shows, ...others], next: known.next };
}

export function extended(known: ShowList | undefined, page: ShowList): ShowList {
  const ids = new Set(known?.shows.map(({ id }) => id));
  return { ...page, shows: [...(known?.shows ?? []), ...page.shows.filter(({ id }) => !ids.has(id))] };
}

export function byBeginning(shows: readonly ShowSummary[]) {
  return { begun: shows.filter((show) => !isScheduled(show)), scheduled: shows.filter(isScheduled) };
}

function isAfter(show: ShowSummary, other: ShowSummary): boolean {
  if (isScheduled(show) !== isScheduled(other)) return isScheduled(show);
  const [first, second] = isScheduled(show) ? [other, show] : [show, other];
  const laterMs = Date.parse(second.startedAt) - Date.parse(first.startedAt);
  return laterMs === 0 ? first.id < second.id : laterMs > 0;
}

function isScheduled({ status }: ShowSummary): boolean {
  return status === "SCHEDULED";
}
