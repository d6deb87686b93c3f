import type { ShowSummary } from "./operations.js";

/** The loaded part of the list of shows, newest first. */
export interface ShowList {
  readonly shows: readonly ShowSummary[];
  /** The cursor of the next page; null where there is none. */
  readonly next: string | null;
}

/** The list with a new first page; shows after that page are kept. */
export function renewed(known: ShowList | undefined, page: ShowList): ShowList {
  const last = page.shows.at(-1);
  if (known === undefined || last === undefined || page.next === null) return page;
  const others = known.shows.filter((show) => isAfter(show, last));
  return others.length === 0 ? page : { shows: [...page.shows, ...others], next: known.next };
}

/** The list with another page appended. */
export function extended(known: ShowList | undefined, page: ShowList): ShowList {
  const ids = new Set(known?.shows.map(({ id }) => id));
  return { shows: [...(known?.shows ?? []), ...page.shows.filter(({ id }) => !ids.has(id))], next: page.next };
}

/** Whether it is older, or started at the same time and has the lesser id. */
function isAfter(show: ShowSummary, other: ShowSummary): boolean {
  const laterMs = Date.parse(other.startedAt) - Date.parse(show.startedAt);
  return laterMs === 0 ? show.id < other.id : laterMs > 0;
}
