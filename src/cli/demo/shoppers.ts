import { randomInt, randomUUID } from "node:crypto";
import type { Channel, ShopperEventInput } from "../../analytics/events/events.input.js";

export interface Visits {
  readonly productIds: readonly string[];
  /** Visits are spread over the minutes from then on. */
  readonly from: Date;
  readonly minutes: number;
  readonly visits: number;
}

/** Visits to the running show, before the first start and from then on. */
export const visitsPerMinute = 60;

/** A visit is by somebody who came within this time, or by a new shopper. */
const returnsWithinMs = 600_000;
const devices = ["mobile", "mobile", "mobile", "desktop", "desktop", "tablet", undefined];

/**
 * Generated visits to a show: all view, some add a product to the cart, a few of these order it. Shoppers are named by
 * the second in which they first came, so that their number grows with the visits, and rates stay the same for days.
 */
export function shopperVisits({ productIds, from, minutes, visits }: Visits): ShopperEventInput[] {
  return Array.from({ length: visits }, () => {
    const occurredAt = new Date(from.getTime() + randomInt(minutes * 60_000 + 1));
    return visit(productIds, occurredAt);
  }).flat();
}

function visit(productIds: readonly string[], occurredAt: Date): ShopperEventInput[] {
  const cameAt = occurredAt.getTime() - (oneIn(4) ? randomInt(returnsWithinMs) : 0);
  const viewerId = `shopper-${Math.floor(cameAt / 1_000)}-${randomInt(2)}`;
  const channel: Channel = oneIn(5) ? "REPLAY" : "LIVE";
  const productId = productIds[randomInt(productIds.length)];
  const common = { channel, viewerId, device: devices[randomInt(devices.length)], occurredAt };
  const events: ShopperEventInput[] = [{ ...common, id: randomUUID(), type: "VIEW", seconds: randomInt(5, 240) }];
  if (!oneIn(5)) return events;
  events.push({ ...common, id: randomUUID(), type: "ADD_TO_CART", productId });
  if (oneIn(4)) {
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
