import { netSalesOf, productsOf, salesOf, type SentEvent } from "./oracle.js";

/** What happened from one second until another, worked out in the plainest way: second by second, over all accepted events. */
export function intervalFigures(events: readonly SentEvent[], from: number, until: number, productId?: string | null) {
  const happened = within(events, from, until);
  const counts = Array.from({ length: until - from }, (_, index) => viewersAt(events, from + index).size);
  return {
    seconds: until - from,
    sales: salesOf(happened),
    netSales: netSalesOf(happened),
    orders: count(happened, "ORDER"),
    quantity: quantityOf(happened),
    addToCart: count(happened, "ADD_TO_CART"),
    viewersAtStart: counts[0] ?? 0,
    peakViewers: Math.max(0, ...counts),
    averageViewers: Math.round((counts.reduce((sum, viewers) => sum + viewers, 0) * 100) / (until - from || 1)) / 100,
    newViewers: [...firstSeconds(events).values()].filter((second) => second >= from && second < until).length,
    ofProduct: typeof productId === "string" ? ofProduct(happened, productId) : null,
    isExact: true,
  };
}

/** Orders of a product by viewers who put it into their cart in an interval, at most so many minutes after they did. */
export function ordersWithin(
  events: readonly SentEvent[],
  { from, until, productId, minutes }: { from: number; until: number; productId: string; minutes: number },
): number {
  const carts = within(events, from, until).filter(
    (event) => event.type === "ADD_TO_CART" && event.productId === productId,
  );
  return ordersOf(events, productId).filter((order) =>
    carts.some(({ viewerId, occurredAt }) => {
      const after = Date.parse(order.occurredAt ?? "") - Date.parse(occurredAt ?? "");
      return viewerId === order.viewerId && after >= 0 && after <= minutes * 60_000;
    }),
  ).length;
}

/** Events that occurred in [from, until), in seconds since 1970. */
function within(events: readonly SentEvent[], from: number, until: number): SentEvent[] {
  return events.filter(({ occurredAt = "" }) => {
    const second = Date.parse(occurredAt) / 1_000;
    return second >= from && second < until;
  });
}

function ordersOf(events: readonly SentEvent[], productId: string) {
  return events.filter(
    (event) => event.type === "ORDER" && productsOf(event).some((product) => product.productId === productId),
  );
}

function ofProduct(events: readonly SentEvent[], productId: string) {
  const parts = events.flatMap((event) =>
    productsOf(event)
      .filter((part) => part.productId === productId)
      .map((part) => ({ ...part, type: event.type })),
  );
  const sold = parts.filter(({ type }) => type === "ORDER");
  const carts = parts.filter(({ type }) => type === "ADD_TO_CART").length;
  return {
    sales: salesOf(sold.map(({ amount }, index) => ({ id: String(index), type: "ORDER", channel: "LIVE", amount }))),
    orders: ordersOf(events, productId).length,
    quantity: sold.reduce((sum, { quantity }) => sum + quantity, 0),
    addToCart: carts,
    carts,
  };
}

function count(events: readonly SentEvent[], type: SentEvent["type"]): number {
  return events.filter((event) => event.type === type).length;
}

function quantityOf(events: readonly SentEvent[]): number {
  return events
    .filter(({ type }) => type === "ORDER")
    .flatMap(({ lines }) => (lines && lines.length > 0 ? lines.map(({ quantity }) => quantity) : [1]))
    .reduce((sum, quantity) => sum + quantity, 0);
}

/** The first second that a VIEW covers, and the one after its last. It occurs at its end, and covers at least a second. */
function secondsOf({ occurredAt = "", seconds }: SentEvent) {
  const end = Date.parse(occurredAt) / 1_000;
  const first = Math.floor(end - (seconds ?? 0));
  return { first, end: Math.max(Math.ceil(end), first + 1) };
}

function viewersAt(events: readonly SentEvent[], second: number): Set<unknown> {
  const watching = events.filter((event) => {
    const { first, end } = secondsOf(event);
    return event.type === "VIEW" && first <= second && second < end;
  });
  return new Set(watching.map(({ viewerId }) => viewerId));
}

export function firstSeconds(events: readonly SentEvent[]): Map<unknown, number> {
  const firsts = new Map<unknown, number>();
  for (const event of events) {
    if (event.type !== "VIEW") continue;
    firsts.set(event.viewerId, Math.min(secondsOf(event).first, firsts.get(event.viewerId) ?? Infinity));
  }
  return firsts;
}

/** What an interval lacks whose events were removed. */
export const unknownIfRemoved = {
  netSales: null,
  quantity: null,
  viewersAtStart: null,
  peakViewers: null,
  averageViewers: null,
  newViewers: null,
};
