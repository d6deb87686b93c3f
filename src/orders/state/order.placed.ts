import type { Channel } from "../../events/events.input.js";

/** Who placed an order, and for which show and channel the sender named it. */
interface Placed {
  readonly viewerId: string | null;
  readonly lsId: string | null;
  readonly channel: Channel | null;
}

/** The times of the states that the viewer and the show are from. Without one, a file or an event named it, or none did. */
export interface PlacedFrom {
  readonly viewerFrom?: number;
  readonly showFrom?: number;
}

const nothing: Placed = { viewerId: null, lsId: null, channel: null };

/**
 * As the latest state says that names them, whichever comes first: a later one may be known already that names none. Files and events
 * only complete: any state is later.
 *
 * @param from the time of the state; `isLatest` if it comes after all others, whatever their times
 */
export function placedBy(
  known: (Placed & { readonly money: PlacedFrom }) | undefined,
  news: Placed,
  from: number,
  isLatest: boolean,
): Placed & { readonly from: PlacedFrom } {
  const { viewerFrom, showFrom } = known?.money ?? {};
  const before = known ?? nothing;
  const viewer = latest({ from: viewerFrom, value: before.viewerId }, { from, value: news.viewerId }, isLatest);
  const show = latest({ from: showFrom, value: showOf(before) }, { from, value: showOf(news) }, isLatest);
  return {
    viewerId: viewer.value,
    ...(show.value ?? { lsId: null, channel: null }),
    from: {
      ...(viewer.from !== undefined && { viewerFrom: viewer.from }),
      ...(show.from !== undefined && { showFrom: show.from }),
    },
  };
}

function showOf({ lsId, channel }: Placed) {
  return lsId === null ? null : { lsId, channel };
}

interface Named<Value> {
  readonly from: number | undefined;
  readonly value: Value | null;
}

function latest<Value>(known: Named<Value>, news: Named<Value>, isLatest: boolean): Named<Value> {
  if (news.value === null) return known;
  if (known.from === undefined || news.from === undefined || isLatest) return news;
  return (news.from - known.from || compareTexts(news, known)) > 0 ? news : known;
}

/** Any order of two that are of the same time, so that it does not matter which one comes first. */
export function compareTexts(a: object, b: object): number {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)];
  return one === other ? 0 : one < other ? -1 : 1;
}
