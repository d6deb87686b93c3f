import { Prisma } from "../../generated/prisma/client.js";

type Decimal = Prisma.Decimal;
/** Longer results are truncated, so that they are rounded only once, to 2 decimals. */
const Decimal = Prisma.Decimal.clone({ precision: 40, rounding: Prisma.Decimal.ROUND_DOWN });

/** Not truncated: the last of hundreds of digits may decide how half a cent is rounded. */
const Exact = Prisma.Decimal.clone({ precision: 1_000 });

/** Exact. ANY, the whole show, has only distinct viewers. */
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
}

export interface DeviceTotal {
  readonly channel: "LIVE" | "REPLAY";
  readonly device: string;
  readonly viewers: number;
}

export interface DeviceShare {
  readonly device: string;
  /** Percent of viewers. */
  readonly value: number;
}

export interface Kpis {
  readonly sales: Amounts;
  readonly orders: ByChannel;
  readonly viewers: { live: number; replay: number; total: number; unique: number };
  readonly addToCart: { live: number; replay: number; avg: number };
  readonly avgViewTime: { live: number; replay: number; avg: number };
  readonly devices: readonly DeviceShare[];
  /** Orders of all channels per 100 distinct viewers of the show; it may exceed 100. */
  readonly conversionRate: number;
  /** Sales per order, all channels. */
  readonly averageOrderValue: number;
  readonly refunds: Amounts;
  /** Sales without refunds. */
  readonly netSales: Amounts;
}

interface ByChannel {
  readonly live: number;
  readonly replay: number;
  readonly referral: number;
  readonly total: number;
}

interface Amounts extends ByChannel {
  /** Of the store (ISO 4217), if it has one. */
  readonly currency: string | null;
}

const nothing = { sales: "0", orders: 0, viewers: 0, cartViewers: 0, viewSeconds: "0", refunds: "0" };

/**
 * Rates are rounded to 2 decimals; a denominator of 0 gives 0.
 *
 * @param currency of the store (ISO 4217), if it has any
 */
export function kpisOf(
  totals: readonly ChannelTotals[],
  devices: readonly DeviceTotal[],
  currency: string | null = null,
): Kpis {
  const of = (channel: ChannelTotals["channel"]) => totals.find((total) => total.channel === channel) ?? nothing;
  const live = of("LIVE");
  const replay = of("REPLAY");
  const referral = of("REFERRAL");
  const sales = new Decimal(live.sales).plus(replay.sales).plus(referral.sales);
  const orders = live.orders + replay.orders + referral.orders;
  const viewers = live.viewers + replay.viewers;
  const unique = of("ANY").viewers;
  const amounts = (amountOf: (totals: Pick<ChannelTotals, "sales" | "refunds">) => Decimal): Amounts => ({
    live: money(amountOf(live)),
    replay: money(amountOf(replay)),
    referral: money(amountOf(referral)),
    total: money(amountOf(live).plus(amountOf(replay)).plus(amountOf(referral))),
    currency,
  });
  const seconds = new Decimal(live.viewSeconds).plus(replay.viewSeconds);
  return {
    sales: amounts(({ sales: amount }) => new Exact(amount)),
    orders: { live: live.orders, replay: replay.orders, referral: referral.orders, total: orders },
    viewers: { live: live.viewers, replay: replay.viewers, total: viewers, unique },
    addToCart: {
      live: percent(live.cartViewers, live.viewers),
      replay: percent(replay.cartViewers, replay.viewers),
      avg: percent(live.cartViewers + replay.cartViewers, viewers),
    },
    avgViewTime: {
      live: ratio(live.viewSeconds, live.viewers),
      replay: ratio(replay.viewSeconds, replay.viewers),
      avg: ratio(seconds, viewers),
    },
    devices: deviceShares(devices),
    conversionRate: percent(orders, unique),
    averageOrderValue: ratio(sales, orders),
    refunds: amounts(({ refunds }) => new Exact(refunds)),
    netSales: amounts(({ sales: amount, refunds }) => new Exact(amount).minus(refunds)),
  };
}

/** Among the viewers of the given channels, each channel counted separately. Largest first, then by name. */
export function deviceShares(devices: readonly DeviceTotal[]): DeviceShare[] {
  const byDevice = new Map<string, number>();
  for (const { device, viewers } of devices) byDevice.set(device, (byDevice.get(device) ?? 0) + viewers);
  const all = [...byDevice.values()].reduce((sum, viewers) => sum + viewers, 0);
  return [...byDevice]
    .filter(([, viewers]) => viewers > 0)
    .toSorted(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1))
    .map(([device, viewers]) => ({ device, value: percent(viewers, all) }));
}

/** An amount rounded to 2 decimals, half up. */
export function money(amount: string | Decimal): number {
  return rounded(new Decimal(amount));
}

/** The exact sum of amounts, rounded likewise. */
export function moneySum(amounts: readonly string[]): number {
  return rounded(amounts.reduce((sum, amount) => sum.plus(amount), new Decimal(0)));
}

function percent(part: number, whole: number): number {
  return ratio(new Decimal(part).times(100), whole);
}

function ratio(dividend: string | Decimal, divisor: number): number {
  return divisor === 0 ? 0 : rounded(new Decimal(dividend).div(divisor));
}

function rounded(value: Decimal): number {
  return value.toDecimalPlaces(2, Decimal.ROUND_HALF_UP).toNumber() + 0; // -0 becomes 0
}
