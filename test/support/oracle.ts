/**
 * The KPIs of a show, worked out from their written formulas over all accepted events, in the plainest way: no totals,
 * nothing from src. Money and seconds are exact, as whole numbers of a power of ten.
 */

/** An event as callers send it. */
export interface SentEvent {
  readonly id: string;
  readonly type: "VIEW" | "ADD_TO_CART" | "ORDER" | "REFUND";
  readonly channel: "LIVE" | "REPLAY" | "REFERRAL";
  readonly viewerId?: string | null;
  readonly device?: string | null;
  readonly source?: string | null;
  readonly seconds?: number | null;
  readonly amount?: number | null;
  readonly productId?: string | null;
  /** ISO 8601. */
  readonly occurredAt?: string;
  readonly orderId?: string | null;
  readonly currency?: string | null;
  readonly lines?: readonly { readonly productId: string; readonly quantity: number; readonly amount: number }[] | null;
}

/** The events that count, of those that arrived: the first of each id. */
export function accepted(arrived: readonly SentEvent[]): SentEvent[] {
  const ids = new Set<string>();
  return arrived.filter(({ id }) => !ids.has(id) && ids.add(id));
}

interface NameLimits {
  /** The most devices of each channel. */
  readonly devices: number;
  readonly sources: number;
  readonly products: number;
}

/**
 * The events that count, with the names that a show tells apart: the first that arrived. Other devices are `other`, and
 * other products in carts are not counted by product.
 */
export function toldApart(arrived: readonly SentEvent[], limits: NameLimits): SentEvent[] {
  const seen = arrived.filter(isSeen);
  const firsts = (names: readonly string[], max: number) => new Set([...new Set(names)].slice(0, max));
  const devicesOf = (channel: string) =>
    firsts(
      seen
        .filter((event) => event.channel === channel)
        .map(deviceOf)
        .filter((device) => device !== "other"),
      limits.devices,
    );
  const devices = new Map(["LIVE", "REPLAY"].map((channel) => [channel, devicesOf(channel)]));
  const sources = firsts(
    arrived
      .filter(({ type }) => type !== "REFUND")
      .map(sourceOf)
      .filter((source) => source !== "other"),
    limits.sources,
  );
  const products = firsts(
    arrived.flatMap((event) => productsOf(event).map(({ productId }) => productId)),
    limits.products,
  );
  return accepted(arrived).map((event) => ({
    ...event,
    device: devices.get(event.channel)?.has(deviceOf(event)) === true ? deviceOf(event) : "other",
    source: sources.has(sourceOf(event)) ? sourceOf(event) : "other",
    productId: event.productId && products.has(event.productId) ? event.productId : null,
    lines: (event.lines ?? []).map((line) => ({
      ...line,
      productId: products.has(line.productId) ? line.productId : "",
    })),
  }));
}

/** Whether it tells that a viewer was there: an order alone makes nobody a viewer. */
function isSeen({ type }: SentEvent): boolean {
  return type === "VIEW" || type === "ADD_TO_CART";
}

/** The products that an event counts for; of an order without lines, its own product once. */
export function productsOf({ type, productId, lines, amount }: SentEvent) {
  const isSale = type === "ORDER" || type === "REFUND";
  if (isSale && lines && lines.length > 0) return lines;
  if ((!isSale && type !== "ADD_TO_CART") || typeof productId !== "string") return [];
  return [{ productId, quantity: 1, amount: amount ?? 0 }];
}

function deviceOf({ device }: SentEvent): string {
  return typeof device === "string" && device !== "" ? device.toLowerCase() : "unknown";
}

function sourceOf({ source }: SentEvent): string {
  const name = (source ?? "").trim().toLowerCase();
  return (name.startsWith("www.") ? name.slice(4) : name) || "unknown";
}

/** All members of Kpis, as GraphQL gives them. */
export function kpis(events: readonly SentEvent[]) {
  const [live, replay] = [on(events, "LIVE"), on(events, "REPLAY")];
  const viewers = viewerCounts(events);
  const carts = viewerCounts(events.filter(({ type }) => type === "ADD_TO_CART"));
  const isOrder = ({ type }: SentEvent) => type === "ORDER";
  const orders = byChannel(events, (some) => some.filter(isOrder).length);
  const sales = byChannel(events, salesOf);
  const unique = buyersOf(events);
  const buyers = byChannel(events, buyersOf);
  return {
    sales: withCurrency(sales),
    refunds: withCurrency(byChannel(events, refundsOf)),
    netSales: withCurrency(byChannel(events, netSalesOf)),
    orders,
    viewers,
    addToCart: {
      live: percent(carts.live, viewers.live),
      replay: percent(carts.replay, viewers.replay),
      avg: percent(carts.total, viewers.total),
    },
    avgViewTime: {
      live: rounded(viewTimeOf(live), viewers.live),
      replay: rounded(viewTimeOf(replay), viewers.replay),
      avg: rounded(viewTimeOf([...live, ...replay]), viewers.total),
    },
    devices: deviceShares([...viewersOf(live).values(), ...viewersOf(replay).values()]),
    conversionRate: percent(orders.total, viewers.unique),
    averageOrderValue: rounded(sum(events.filter(isOrder).map(({ amount }) => amount)), orders.total),
    buyers: { ...buyers, total: buyers.live + buyers.replay + buyers.referral, unique },
    buyerRate: {
      live: percent(buyers.live, viewers.live),
      replay: percent(buyers.replay, viewers.replay),
      total: percent(unique, viewers.unique),
    },
    ordersWithoutViewer: byChannel(events, (some) => some.filter((event) => isOrder(event) && !isNamed(event)).length),
    engagedViewers: viewerCounts(events.filter(({ type, seconds }) => type === "VIEW" && (seconds ?? 0) >= 3)),
    sources: sourceFigures(events),
  };
}

/** Whether it names a viewer: an order without one is nobody's. */
function isNamed({ viewerId }: SentEvent): boolean {
  return typeof viewerId === "string";
}

/** Who ordered. */
function buyersOf(events: readonly SentEvent[]): number {
  const orders = events.filter((event) => event.type === "ORDER" && isNamed(event));
  return new Set(orders.map(({ viewerId }) => viewerId)).size;
}

/** A viewer, or a buyer who was not seen, came from where their first event says; an order of nobody from where it says itself. */
function sourceFigures(events: readonly SentEvent[]) {
  const sources = new Map<string, string>();
  for (const event of events) {
    if (event.type === "REFUND" || typeof event.viewerId !== "string" || sources.has(event.viewerId)) continue;
    sources.set(event.viewerId, sourceOf(event));
  }
  const cameFrom = (event: SentEvent) => sources.get(event.viewerId ?? "") ?? sourceOf(event);
  const viewers = [...viewersOf(events).keys()].map((viewerId) => sources.get(viewerId));
  const orders = events.filter(({ type }) => type === "ORDER");
  return [...new Set([...viewers, ...orders.map(cameFrom)])]
    .map((source) => {
      const own = orders.filter((event) => cameFrom(event) === source);
      return {
        source,
        viewers: viewers.filter((one) => one === source).length,
        orders: own.length,
        sales: salesOf(own),
      };
    })
    .toSorted((a, b) => b.viewers - a.viewers || b.sales - a.sales || ((a.source ?? "") < (b.source ?? "") ? -1 : 1));
}

function viewerCounts(events: readonly SentEvent[]) {
  const [live, replay] = [viewersOf(on(events, "LIVE")).size, viewersOf(on(events, "REPLAY")).size];
  return { live, replay, total: live + replay, unique: viewersOf(events).size };
}

/** Stores of tests have none. */
function withCurrency<Amounts extends object>(amounts: Amounts) {
  return { ...amounts, currency: null };
}

function byChannel(events: readonly SentEvent[], figureOf: (some: readonly SentEvent[]) => number) {
  const of = (channel: SentEvent["channel"]) => figureOf(on(events, channel));
  return { live: of("LIVE"), replay: of("REPLAY"), referral: of("REFERRAL"), total: figureOf(events) };
}

/** The most distinct viewers active in one minute of the clock. */
export function peakViewers(events: readonly SentEvent[]): number {
  return Math.max(0, ...groupBy(events, startOf(60)).map(([, within]) => viewersOf(within).size));
}

/** Each part of a show in which something happened. */
export function timeline(events: readonly SentEvent[], bucketSeconds: number) {
  const shown = events.filter(({ type }) => type !== "REFUND");
  return groupBy(shown, startOf(bucketSeconds))
    .toSorted(([a], [b]) => a - b)
    .map(([start, within]) => ({
      startsAt: new Date(start).toISOString(),
      viewers: peakViewers(within),
      carts: within.filter(({ type }) => type === "ADD_TO_CART").length,
      orders: within.filter(({ type }) => type === "ORDER").length,
      sales: salesOf(within),
    }));
}

/** The products of a show with the highest figure. */
export function topProducts(
  events: readonly SentEvent[],
  first: number,
  by: "carts" | "orders" | "quantity" | "sales" = "carts",
) {
  const parts = events.flatMap((event) => productsOf(event).map((part) => ({ ...part, event })));
  return groupBy(
    parts.filter(({ productId }) => productId !== ""),
    ({ productId }) => productId,
  )
    .map(([productId, within]) => {
      const ordered = within.filter(({ event }) => event.type === "ORDER");
      return {
        productId,
        carts: within.filter(({ event }) => event.type === "ADD_TO_CART").length,
        orders: new Set(ordered.map(({ event }) => event)).size,
        quantity: ordered.reduce((all, { quantity }) => all + quantity, 0),
        sales: rounded(sum(ordered.map(({ amount }) => amount))),
      };
    })
    .filter((figures) => figures[by] > 0)
    .toSorted((a, b) => b[by] - a[by] || Buffer.compare(Buffer.from(a.productId), Buffer.from(b.productId)))
    .slice(0, first);
}

export function devicesByChannel(events: readonly SentEvent[]) {
  return (["LIVE", "REPLAY"] as const).map((channel) => ({
    channel,
    devices: deviceShares([...viewersOf(on(events, channel)).values()]),
  }));
}

function on(events: readonly SentEvent[], channel: SentEvent["channel"]) {
  return events.filter((event) => event.channel === channel);
}

/** The distinct viewers, each with the device of its first event. An order alone makes nobody a viewer. */
function viewersOf(events: readonly SentEvent[]): Map<string, string> {
  const viewers = new Map<string, string>();
  for (const event of events) {
    const { viewerId } = event;
    if (!isSeen(event) || typeof viewerId !== "string" || viewers.has(viewerId)) continue;
    viewers.set(viewerId, deviceOf(event));
  }
  return viewers;
}

function viewTimeOf(events: readonly SentEvent[]): Exact {
  return sum(events.filter(({ type }) => type === "VIEW").map(({ seconds }) => seconds));
}

export function salesOf(events: readonly SentEvent[]): number {
  return rounded(sum(events.filter(({ type }) => type === "ORDER").map(({ amount }) => amount)));
}

function refundsOf(events: readonly SentEvent[]): number {
  return rounded(sum(events.filter(({ type }) => type === "REFUND").map(({ amount }) => amount)));
}

export function netSalesOf(events: readonly SentEvent[]): number {
  const amounts = events.map(({ type, amount }) =>
    type === "ORDER" ? amount : type === "REFUND" ? -(amount ?? 0) : 0,
  );
  const { units, scale } = sum(amounts);
  return units < 0n ? 0 - rounded({ units: -units, scale }) : rounded({ units, scale });
}

function deviceShares(devices: readonly string[]) {
  return groupBy(devices, (device) => device)
    .toSorted(([nameA, a], [nameB, b]) => b.length - a.length || (nameA < nameB ? -1 : 1))
    .map(([device, { length }]) => ({ device, value: percent(length, devices.length) }));
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): [Key, Item[]][] {
  const groups = new Map<Key, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups];
}

function startOf(bucketSeconds: number) {
  const bucketMs = bucketSeconds * 1_000;
  return ({ id, occurredAt }: SentEvent) => {
    if (occurredAt === undefined) throw new Error(`Nobody can tell when ${id} occurred.`);
    return Math.floor(Date.parse(occurredAt) / bucketMs) * bucketMs;
  };
}

/** `units` ÷ 10 ** `scale`. */
interface Exact {
  readonly units: bigint;
  readonly scale: number;
}

/** The decimal number that JSON shows: 0.1 is a tenth, 1e-7 a ten-millionth. */
function exactly(value: number): Exact {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return scale < 0 ? { units: digits * 10n ** BigInt(-scale), scale: 0 } : { units: digits, scale };
}

/** What is not given adds nothing. */
function sum(values: readonly (number | null | undefined)[]): Exact {
  const given = values.filter((value) => typeof value === "number").map(exactly);
  const scale = Math.max(0, ...given.map((value) => value.scale));
  const units = given.map((value) => value.units * 10n ** BigInt(scale - value.scale));
  return { units: units.reduce((total, more) => total + more, 0n), scale };
}

function percent(part: number, whole: number): number {
  return rounded({ units: BigInt(part) * 100n, scale: 0 }, whole);
}

/** The quotient to 2 decimals, halves up; 0 where the divisor is. */
function rounded({ units, scale }: Exact, divisor = 1): number {
  if (divisor === 0) return 0;
  const denominator = BigInt(divisor) * 10n ** BigInt(scale);
  const hundredths = (units * 200n + denominator) / (denominator * 2n);
  return Number(`${hundredths / 100n}.${String(hundredths % 100n).padStart(2, "0")}`);
}
