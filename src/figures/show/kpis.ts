import { currencyDecimals } from "../../stores/store.currency.js";
import { Prisma } from "../../generated/prisma/client.js";

type Decimal = Prisma.Decimal;
/** Truncates longer results, so that they are rounded only once. */
const Decimal = Prisma.Decimal.clone({ precision: 40, rounding: Prisma.Decimal.ROUND_DOWN });

/** Not truncated, because the last of hundreds of digits may decide how half a cent is rounded. */
const Exact = Prisma.Decimal.clone({ precision: 1_000 });

/** Exact. ANY, the whole show, only has what is distinct over channels: viewers, engaged viewers and buyers. */
export interface ChannelTotals {
  readonly channel: "LIVE" | "REPLAY" | "REFERRAL" | "ANY";
  /** A decimal. */
  readonly sales: string;
  readonly orders: number;
  readonly viewers: number;
  /** Distinct viewers with a product in the cart. */
  readonly cartViewers: number;
  /** A decimal. */
  readonly viewSeconds: string;
  /** A decimal. */
  readonly refunds: string;
  /** Distinct viewers with an order. */
  readonly buyers: number;
  /** Distinct viewers with a view of at least three seconds. */
  readonly engagedViewers: number;
  readonly ordersWithoutViewer: number;
}

export interface DeviceTotal {
  readonly channel: "LIVE" | "REPLAY";
  readonly device: string;
  readonly viewers: number;
}

export interface SourceTotal {
  readonly source: string;
  readonly viewers: number;
  readonly orders: number;
  /** A decimal. */
  readonly sales: string;
}

export interface SourceFigures extends Omit<SourceTotal, "sales"> {
  readonly sales: number;
}

export interface DeviceShare {
  readonly device: string;
  /** Percent of viewers. */
  readonly value: number;
}

export interface Kpis {
  readonly sales: Amounts;
  readonly orders: ByChannel;
  readonly viewers: Distinct;
  readonly addToCart: { live: number; replay: number; avg: number };
  readonly avgViewTime: { live: number; replay: number; avg: number };
  readonly devices: readonly DeviceShare[];
  /** Orders of all channels per 100 distinct viewers of the show. May exceed 100. */
  readonly conversionRate: number;
  /** Sales per order, all channels. */
  readonly averageOrderValue: number;
  readonly refunds: Amounts;
  /** Sales less refunds. */
  readonly netSales: Amounts;
  /** Distinct viewers with an order. */
  readonly buyers: Distinct & { referral: number };
  /** Buyers for each 100 viewers; in total, distinct buyers for each 100 distinct viewers. May exceed 100. */
  readonly buyerRate: { live: number; replay: number; total: number };
  readonly ordersWithoutViewer: ByChannel;
  readonly engagedViewers: Distinct;
  /** Where viewers came from: most viewers first, then by sales and name. */
  readonly sources: readonly SourceFigures[];
}

interface Distinct {
  readonly live: number;
  readonly replay: number;
  /** A viewer of several channels counts in each. */
  readonly total: number;
  /** A viewer of several channels counts once. */
  readonly unique: number;
}

interface ByChannel {
  readonly live: number;
  readonly replay: number;
  readonly referral: number;
  readonly total: number;
}

interface Amounts extends ByChannel {
  /** The store's currency (ISO 4217), if it has one. */
  readonly currency: string | null;
}

const nothing = {
  sales: "0",
  orders: 0,
  viewers: 0,
  cartViewers: 0,
  viewSeconds: "0",
  refunds: "0",
  buyers: 0,
  engagedViewers: 0,
  ordersWithoutViewer: 0,
};

const rateDecimals = 2;

/**
 * Rates are rounded to 2 decimals, amounts to those of the currency; a denominator of 0 gives 0.
 *
 * @param currency the store's (ISO 4217), if it has one
 */
export function kpisOf(
  totals: readonly ChannelTotals[],
  devices: readonly DeviceTotal[],
  currency: string | null = null,
  sources: readonly SourceTotal[] = [],
): Kpis {
  const decimals = currencyDecimals(currency);
  const of = (channel: ChannelTotals["channel"]) => totals.find((total) => total.channel === channel) ?? nothing;
  const channels = { live: of("LIVE"), replay: of("REPLAY"), referral: of("REFERRAL") };
  const viewers = viewersOf(channels.live, channels.replay, of("ANY"));
  const buyers = { ...counts(channels, ({ buyers: count }) => count), unique: of("ANY").buyers };
  const orders = counts(channels, ({ orders: count }) => count);
  const amounts = (amountOf: (totals: Totals) => Decimal) => amountsOf(channels, amountOf, { currency, decimals });
  return {
    sales: amounts(({ sales }) => new Exact(sales)),
    orders,
    ...viewers,
    devices: deviceShares(devices),
    conversionRate: percent(orders.total, viewers.viewers.unique),
    averageOrderValue: ratio(
      sumOf(channels, ({ sales }) => new Exact(sales)),
      orders.total,
      decimals,
    ),
    refunds: amounts(({ refunds }) => new Exact(refunds)),
    netSales: amounts(({ sales, refunds }) => new Exact(sales).minus(refunds)),
    buyers,
    buyerRate: {
      live: percent(buyers.live, channels.live.viewers),
      replay: percent(buyers.replay, channels.replay.viewers),
      total: percent(buyers.unique, viewers.viewers.unique),
    },
    ordersWithoutViewer: counts(channels, ({ ordersWithoutViewer }) => ordersWithoutViewer),
    sources: sourceFigures(sources, decimals),
  };
}

type Totals = Omit<ChannelTotals, "channel">;

interface Channels {
  readonly live: Totals;
  readonly replay: Totals;
  readonly referral: Totals;
}

function counts({ live, replay, referral }: Channels, countOf: (totals: Totals) => number): ByChannel {
  const [ofLive, ofReplay, ofReferral] = [countOf(live), countOf(replay), countOf(referral)];
  return { live: ofLive, replay: ofReplay, referral: ofReferral, total: ofLive + ofReplay + ofReferral };
}

function sumOf({ live, replay, referral }: Channels, amountOf: (totals: Totals) => Decimal): Decimal {
  return amountOf(live).plus(amountOf(replay)).plus(amountOf(referral));
}

function amountsOf(
  channels: Channels,
  amountOf: (totals: Totals) => Decimal,
  { currency, decimals }: { readonly currency: string | null; readonly decimals: number },
): Amounts {
  return {
    live: money(amountOf(channels.live), decimals),
    replay: money(amountOf(channels.replay), decimals),
    referral: money(amountOf(channels.referral), decimals),
    total: money(sumOf(channels, amountOf), decimals),
    currency,
  };
}

/** The figures of viewers, who are on LIVE and REPLAY. */
function viewersOf(live: Totals, replay: Totals, any: Totals) {
  const distinct = (countOf: (totals: Totals) => number): Distinct => ({
    live: countOf(live),
    replay: countOf(replay),
    total: countOf(live) + countOf(replay),
    unique: countOf(any),
  });
  const viewers = distinct((totals) => totals.viewers);
  return {
    viewers,
    addToCart: {
      live: percent(live.cartViewers, viewers.live),
      replay: percent(replay.cartViewers, viewers.replay),
      avg: percent(live.cartViewers + replay.cartViewers, viewers.total),
    },
    avgViewTime: {
      live: ratio(live.viewSeconds, viewers.live),
      replay: ratio(replay.viewSeconds, viewers.replay),
      avg: ratio(new Decimal(live.viewSeconds).plus(replay.viewSeconds), viewers.total),
    },
    engagedViewers: distinct(({ engagedViewers }) => engagedViewers),
  };
}

function sourceFigures(sources: readonly SourceTotal[], decimals: number): SourceFigures[] {
  return sources
    .map((total) => ({ ...total, sales: money(total.sales, decimals) }))
    .filter(({ viewers, orders }) => viewers + orders > 0)
    .toSorted((a, b) => b.viewers - a.viewers || b.sales - a.sales || (a.source < b.source ? -1 : 1));
}

/** Shares among the viewers of all channels, where a viewer of two counts in each. Largest first, then by name. */
export function deviceShares(devices: readonly DeviceTotal[]): DeviceShare[] {
  const byDevice = new Map<string, number>();
  for (const { device, viewers } of devices) byDevice.set(device, (byDevice.get(device) ?? 0) + viewers);
  const all = [...byDevice.values()].reduce((sum, viewers) => sum + viewers, 0);
  return [...byDevice]
    .filter(([, viewers]) => viewers > 0)
    .toSorted(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1))
    .map(([device, viewers]) => ({ device, value: percent(viewers, all) }));
}

/** An amount rounded to the decimals of its currency, half up. */
export function money(amount: string | Decimal, decimals: number): number {
  return rounded(new Decimal(amount), decimals);
}

/** The exact sum of amounts, rounded like `money`. */
export function moneySum(amounts: readonly string[], decimals: number): number {
  return rounded(
    amounts.reduce((sum, amount) => sum.plus(amount), new Decimal(0)),
    decimals,
  );
}

function percent(part: number, whole: number): number {
  return ratio(new Decimal(part).times(100), whole);
}

function ratio(dividend: string | Decimal, divisor: number, decimals = rateDecimals): number {
  return divisor === 0 ? 0 : rounded(new Decimal(dividend).div(divisor), decimals);
}

function rounded(value: Decimal, decimals: number): number {
  return value.toDecimalPlaces(decimals, Decimal.ROUND_HALF_UP).toNumber() + 0; // -0 becomes 0
}
