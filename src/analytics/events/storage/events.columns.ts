import { textArrayLiteral } from "../../../database/sql/arrayLiteral.js";
import type { OrderLineInput, ShopperEventInput } from "../events.input.js";
import { deviceName } from "../keptNames.js";
import { channelCodes, typeCodes } from "./codes.js";
import { idBytes } from "./idBytes.js";

/** Array literals for `unnest`, and how many events they have. A column of empty texts has no elements. */
export type EventColumns = ReturnType<typeof eventColumns>;

/**
 * @param eventsOfShows by show
 * @param now when events without `occurredAt` occurred
 */
export function eventColumns(eventsOfShows: readonly (readonly ShopperEventInput[])[], now: Date) {
  const events = eventsOfShows.flat();
  const texts = (value: (event: ShopperEventInput) => string) => {
    const values = events.map(value);
    return values.every((text) => text === "") ? "{}" : textArrayLiteral(values);
  };
  /** Of values that never need quotes. */
  const plain = (value: (event: ShopperEventInput) => string | number) => `{${events.map(value).join(",")}}`;
  const ids = (value: (event: ShopperEventInput) => string) => plain((event) => `"\\${idBytes(value(event))}"`);
  const nowText = `"${now.toISOString()}"`;
  return {
    count: events.length,
    /** The show's place, from 1. */
    show: `{${eventsOfShows.flatMap((ofShow, index) => ofShow.map(() => index + 1)).join(",")}}`,
    id: ids(({ id }) => id),
    type: plain(({ type }) => typeCodes[type]),
    channel: plain(({ channel }) => channelCodes[channel]),
    viewerId: ids(({ viewerId }) => viewerId ?? ""),
    device: texts(({ device }) => deviceName(device) ?? ""),
    value: plain(valueOf),
    orderId: texts(({ orderId }) => orderId ?? ""),
    lines: texts(({ lines }) => linesText(lines ?? [])),
    productId: texts(({ productId }) => productId ?? ""),
    occurredAt: plain(({ occurredAt }) => (occurredAt ? `"${occurredAt.toISOString()}"` : nowText)),
  };
}

function valueOf({ type, seconds, amount }: ShopperEventInput): number {
  if (type === "VIEW") return seconds ?? 0;
  return type === "ADD_TO_CART" ? 0 : (amount ?? 0);
}

function linesText(lines: readonly OrderLineInput[]): string {
  if (lines.length === 0) return "";
  return JSON.stringify(lines.map(({ productId, quantity, amount }) => ({ productId, quantity, amount })));
}
