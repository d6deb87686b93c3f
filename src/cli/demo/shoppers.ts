import { randomInt, randomUUID } from "node:crypto";
import type { Channel, ShopperEventInput } from "../../analytics/events/events.input.js";

export interface Visits {
  readonly productIds: readonly string[];
  /** Visits are spread over the minutes from then on. */
  readonly from: Date;
  readonly minutes: number;
  readonly visits: number;
}

/** Few enough for a plausible number of unique viewers. */
const shoppers = 600;
const devices = ["mobile", "mobile", "mobile", "desktop", "desktop", "tablet", undefined];

/** Generated visits to a show: all view, some add a product to the cart, a few order it. */
export function shopperVisits({ productIds, from, minutes, visits }: Visits): ShopperEventInput[] {
  return Array.from({ length: visits }, () => {
    const occurredAt = new Date(from.getTime() + randomInt(minutes * 60_000 + 1));
    return visit(productIds, occurredAt);
  }).flat();
}

function visit(productIds: readonly string[], occurredAt: Date): ShopperEventInput[] {
  const viewerId = `shopper-${randomInt(shoppers)}`;
  const channel: Channel = oneIn(5) ? "REPLAY" : "LIVE";
  const productId = productIds[randomInt(productIds.length)];
  const common = { channel, viewerId, device: devices[randomInt(devices.length)], occurredAt };
  const events: ShopperEventInput[] = [{ ...common, id: randomUUID(), type: "VIEW", seconds: randomInt(5, 240) }];
  if (oneIn(4)) events.push({ ...common, id: randomUUID(), type: "ADD_TO_CART", productId });
  if (oneIn(9)) {
    const amount = randomInt(1_490, 18_900) / 100;
    events.push({
      ...common,
      id: randomUUID(),
      type: "ORDER",
      channel: oneIn(6) ? "REFERRAL" : channel,
      amount,
      productId,
    });
  }
  return events;
}

function oneIn(times: number): boolean {
  return randomInt(times) === 0;
}
