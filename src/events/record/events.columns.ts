import { textArrayLiteral } from "../../database/sql/arrayLiteral.js";
import type { OrderLineInput, ShopperEvent } from "../events.input.js";
import { deviceName, sourceName } from "./countedNames.js";
import { channelCodes, typeCodes } from "../../database/codes.js";
import { idArrayLiteral } from "./eventValues.sql.js";

/** Array literals for `unnest`, and the number of events. A column with only empty texts or nulls has no elements. */
export type EventColumns = ReturnType<typeof eventColumns>;

/**
 * @param eventsOfShows by show
 * @param bind of withRawParameters
 */
export function eventColumns(eventsOfShows: readonly (readonly ShopperEvent[])[], bind: (column: string) => string) {
  const events = eventsOfShows.flat();
  const texts = (value: (event: ShopperEvent) => string) => {
    const values = events.map(value);
    return values.every((text) => text === "") ? "{}" : bind(textArrayLiteral(values));
  };
  /** Makes an array of values that never need quotes. */
  const plain = (value: (event: ShopperEvent) => string | number) => bind(`{${events.map(value).join(",")}}`);
  const ids = (value: (event: ShopperEvent) => string) => bind(idArrayLiteral(events.map(value)));
  return {
    count: events.length,
    place: bind(placesOf(eventsOfShows)),
    id: ids(({ id }) => id),
    type: plain(({ type }) => typeCodes[type]),
    channel: plain(({ channel }) => channelCodes[channel]),
    viewerId: ids(({ viewerId }) => viewerId ?? ""),
    device: texts(({ device }) => deviceName(device) ?? ""),
    source: texts(({ source }) => sourceName(source) ?? ""),
    value: plain(valueOf),
    orderId: texts(({ orderId }) => orderId ?? ""),
    lines: texts(({ lines }) => linesText(lines ?? [])),
    productId: texts(({ productId }) => productId ?? ""),
    occurredAt: events.some(({ occurredAt }) => occurredAt)
      ? plain(({ occurredAt }) => (occurredAt ? `"${occurredAt.toISOString()}"` : "NULL"))
      : "{}",
  };
}

/** The place of each event's show, from 1. The array is empty if there is one show. */
function placesOf(eventsOfShows: readonly (readonly ShopperEvent[])[]): string {
  if (eventsOfShows.length === 1) return "{}";
  return `{${eventsOfShows.flatMap((ofShow, index) => ofShow.map(() => index + 1)).join(",")}}`;
}

function valueOf({ type, seconds, amount }: ShopperEvent): number {
  if (type === "VIEW") return seconds ?? 0;
  return type === "ADD_TO_CART" ? 0 : (amount ?? 0);
}

function linesText(lines: readonly OrderLineInput[]): string {
  if (lines.length === 0) return "";
  return JSON.stringify(lines.map(({ productId, quantity, amount }) => ({ productId, quantity, amount })));
}
