import { randomInt, randomUUID } from "node:crypto";
import type { Channel, ShopperEventInput, OrderLineInput } from "../../events/events.input.js";
import type { HostInput } from "../../shows/liveStream.input.js";
import { statesOf } from "../../orders/state/order.input.js";
import { recordNews } from "../../orders/state/order.record.js";
import { recordEvents } from "../../events/record/events.record.js";
import type { RootDatabase } from "../../database/client.js";
import { momentsOf, pinnedProduct, pinNumber } from "./moments.js";
import { demoProductIds, demoProducts } from "./products.js";

export interface Visits {
  /** Most carts are of the product that the show pins. */
  readonly showStart: Date;
  /** Visits are spread over the `minutes` after this time. */
  readonly from: Date;
  readonly minutes: number;
  readonly visits: number;
}

/** Visits to the running show, both those before the first start and those of the traffic since. */
export const visitsPerMinute = 60;

/** The longest VIEW: as a tracker sends them, so that minutes and intervals have the same viewers. */
const viewSeconds = 60;
/** A returning shopper came within this time. */
const returnsWithinMs = 600_000;
const devices = ["mobile", "mobile", "mobile", "desktop", "desktop", "tablet", undefined];

/**
 * Generates visits to a show: all view, some add a product to the cart, and a few of these order. Shoppers are named
 * after the second in which they first came, so their number grows with the visits, and rates stay the same for days.
 */
export function shopperVisits({ showStart, from, minutes, visits }: Visits): ShopperEventInput[] {
  return Array.from({ length: visits }, () => {
    const occurredAt = new Date(from.getTime() + randomInt(minutes * 60_000 + 1));
    return visit(showStart, occurredAt);
  }).flat();
}

function visit(showStart: Date, occurredAt: Date): ShopperEventInput[] {
  const cameAt = occurredAt.getTime() - (oneIn(4) ? randomInt(returnsWithinMs) : 0);
  const viewerId = `shopper-${Math.floor(cameAt / 1_000)}-${randomInt(2)}`;
  const channel: Channel = oneIn(5) ? "REPLAY" : "LIVE";
  const productId = wantedProduct(pinNumber(showStart, occurredAt));
  const common = { channel, viewerId, device: devices[randomInt(devices.length)], occurredAt };
  const events: ShopperEventInput[] = [
    { ...common, id: randomUUID(), type: "VIEW", seconds: randomInt(5, viewSeconds) },
  ];
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

export const hosts = [
  { name: "Alex Meyer", email: "alex@shop.example" },
  { name: "Sam Okafor", email: "sam@shop.example" },
  { name: "Robin Laurent", email: "robin@shop.example" },
] as const;

/** Name, days ago, hour of the day (UTC), minutes, viewers, and the product that is shown first, by its index. */
const shows = [
  ["Denim night", 9, 19, 50, 260, 1],
  ["Rainy days", 16, 18, 40, 190, 6],
  ["Knitwear preview", 23, 19, 60, 310, 11],
  ["Sneaker hour", 30, 20, 45, 280, 4],
  ["Sunday brunch styles", 36, 11, 40, 150, 5],
  ["Back to the office", 44, 18, 50, 230, 3],
  ["Late summer looks", 51, 19, 45, 200, 0],
  ["Hats and sunglasses", 58, 17, 30, 130, 10],
  ["Weekend bags", 65, 18, 35, 120, 9],
  ["Festival outfits", 72, 20, 60, 240, 8],
  ["Linen and friends", 80, 19, 45, 170, 0],
  ["The first show", 88, 19, 40, 90, 2],
] as const;

const dayMs = 86_400_000;
const pastDevices = ["mobile", "mobile", "mobile", "mobile", "desktop", "desktop", "tablet", "tv"];
/** What a shopper watches of a show at most. */
const watchedMaxSeconds = 360;
/** Shoppers who come to several shows. */
const regulars = 150;

/**
 * Adds a dozen ended shows of the last three months, with the same ids each time, so that they count once. One
 * statement creates them, and one their moments, because saving them one by one would take longer than recording all events.
 */
export async function addHistory(db: RootDatabase, storeId: string): Promise<void> {
  const known = await db.liveStream.findMany({ where: { storeId }, select: { id: true, number: true } });
  const numbers = new Map(known.map(({ id, number }) => [id, number]));
  let last = Math.max(0, ...numbers.values());
  const history = shows.map(historyShow).map((past) => ({ ...past, number: numbers.get(past.show.id) ?? (last += 1) }));
  const rows = history.map(({ show, number }) => ({ ...show, storeId, number }));
  await db.liveStream.createMany({ data: rows, skipDuplicates: true });
  const moments = history.flatMap(({ number, moments: ofShow }) =>
    ofShow.map(({ id, kind, startedAt, productId = null, host }) => {
      return { storeId, show: number, id, kind, startedAt, productId, ...columnsOf(host) };
    }),
  );
  await db.showMoment.createMany({ data: moments, skipDuplicates: true });
  for (const { show, events } of history) await recordEvents(db, storeId, show.id, events);
  const [denim] = history;
  if (denim !== undefined)
    await addOrder(db, storeId, denim.show.id, new Date(denim.show.startedAt.getTime() + 900_000));
}

/** Adds the order that the API's examples name. */
async function addOrder(db: RootDatabase, storeId: string, lsId: string, placedAt: Date): Promise<void> {
  const lines = [{ productId: "linen-shirt", quantity: 2, amount: 119.8 }];
  const order = { id: "2001", placedAt, amount: 124.7, lines, lsId, viewerId: `${lsId}-0` };
  await recordNews(db, storeId, await statesOf(db, storeId, [order]));
}

function historyShow([name, daysAgo, hour, minutes, viewers, first]: (typeof shows)[number], index: number) {
  const startedAt = new Date(Date.now() - daysAgo * dayMs);
  startedAt.setUTCHours(hour, 0, 0, 0);
  const id = name.toLowerCase().replaceAll(" ", "-");
  const [host, other] = [hosts[index % hosts.length] ?? hosts[0], hosts[(index + 1) % hosts.length] ?? hosts[0]];
  const show = { id, name, status: "ENDED", startedAt, durationSeconds: minutes * 60, ...columnsOf(host) };
  const moments = momentsOf(startedAt, minutes, [host, other], first);
  const events = Array.from({ length: viewers }, (_, number) =>
    pastVisit({ show: id, number, first, startedAt, minutes }),
  ).flat();
  return { show, events, moments };
}

function columnsOf(host: HostInput | null | undefined) {
  return { hostName: host?.name ?? null, hostEmail: host?.email ?? null };
}

interface PastVisit {
  readonly show: string;
  readonly number: number;
  readonly first: number;
  readonly startedAt: Date;
  readonly minutes: number;
}

function pastVisit({ show, number, first, startedAt, minutes }: PastVisit): ShopperEventInput[] {
  const isReplay = oneIn(4);
  const channel: Channel = isReplay ? "REPLAY" : "LIVE";
  const viewerId = oneIn(4) ? `regular-${randomInt(regulars)}` : `${show}-${number}`;
  const device = pastDevices[randomInt(pastDevices.length)];
  // Most shoppers come early, and watch replays on the next evening.
  const shownMs = Math.floor(Math.random() ** 1.6 * minutes * 60_000);
  const cameAfterMs = shownMs + (isReplay ? dayMs : 0);
  const at = (afterMs: number) => new Date(startedAt.getTime() + cameAfterMs + afterMs);
  const watchedSeconds = Math.ceil(Math.random() ** 2 * Math.min(watchedMaxSeconds, minutes * 60 - shownMs / 1_000));
  const common = { channel, viewerId, device };
  const views = Array.from({ length: Math.ceil(watchedSeconds / viewSeconds) }, (_, index): ShopperEventInput => {
    const [from, until] = [index * viewSeconds, Math.min((index + 1) * viewSeconds, watchedSeconds)];
    const occurredAt = at(until * 1_000); // a VIEW occurs at its end
    return { ...common, id: `view-${number}-${index}`, type: "VIEW", seconds: until - from, occurredAt };
  });
  const pin = pinNumber(startedAt, new Date(startedAt.getTime() + shownMs + 60_000));
  const productId = wantedProduct(pin, first);
  const product = demoProducts.find(({ id }) => id === productId);
  if (product === undefined || !oneIn(4)) return views;
  const cart = { ...common, id: `cart-${number}`, type: "ADD_TO_CART", productId, occurredAt: at(60_000) } as const;
  if (!oneIn(3)) return [...views, cart];
  const money = { channel: oneIn(8) ? ("REFERRAL" as const) : channel, viewerId, orderId: `${show}-${number}` };
  return [...views, cart, ...purchase(orderOf(productId, product.price ?? 0), money, number, at)];
}

type Order = ReturnType<typeof orderOf>;

/** An order, and sometimes a refund of its first line. */
function purchase(
  order: Order,
  money: Pick<ShopperEventInput, "channel" | "viewerId" | "orderId">,
  number: number,
  at: (afterMs: number) => Date,
): ShopperEventInput[] {
  const ordered: ShopperEventInput = {
    ...money,
    ...order,
    id: `order-${number}`,
    type: "ORDER",
    occurredAt: at(180_000),
  };
  if (!oneIn(9)) return [ordered];
  const refunded = { amount: order.lines[0]?.amount ?? order.amount, lines: order.lines.slice(0, 1) };
  const occurredAt = at(3 * dayMs);
  return [ordered, { ...money, ...refunded, id: `refund-${number}`, type: "REFUND", occurredAt }];
}

/** An order of one or two products, in whole cents. */
function orderOf(productId: string, price: number): { amount: number; lines: OrderLineInput[] } {
  const quantity = oneIn(4) ? 2 : 1;
  const lines = [{ productId, quantity, amount: cents(price * quantity) }];
  const second = demoProducts[randomInt(demoProducts.length)];
  if (oneIn(3) && second !== undefined && second.id !== productId) {
    lines.push({ productId: second.id, quantity: 1, amount: cents(second.price ?? 0) });
  }
  return { amount: cents(lines.reduce((sum, { amount }) => sum + amount, 0)), lines };
}

function cents(amount: number): number {
  return Math.round(amount * 100) / 100;
}

/** Mostly the product that the show pins, or else any. */
function wantedProduct(pin: number, first = 0): string {
  return pinnedProduct(oneIn(3) ? randomInt(1, demoProductIds.length + 1) : pin, first);
}

function oneIn(times: number): boolean {
  return randomInt(times) === 0;
}
