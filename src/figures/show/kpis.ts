import { currencyDecimals } from "../../stores/store.currency.js";
import { Prisma } from "../../generated/prisma/client.js";

type Decimal = Prisma.Decimal;
/** Truncates longer results, so that they are rounded only once. */
const Decimal = Prisma.Decimal.clone({ precision: 40, rounding: Prisma.Decimal.ROUND_DOWN });

/** Not truncated, because the last of hundreds of digits may decide how half a cent is rounded. */
export const Exact = Prisma.Decimal.clone({ precision: 1_000 });

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
  /** The currency of the store (ISO 4217), if it has one. */
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

/** The totals from which the KPIs of one or several shows follow. */
export interface ShowTotals {
  readonly channels: Channels;
  /** All channels together. */
  readonly any: Totals;
  readonly devices: readonly DeviceTotal[];
  readonly sources: readonly SourceTotal[];
  /** The currency of the store (ISO 4217), if it has one. */
  readonly currency: string | null;
  /** The decimals of amounts. */
  readonly decimals: number;
}

interface Kpi<Value> {
  /** The type of its value in the GraphQL schema, defined in kpis.schema.ts. */
  readonly type: KpiType;
  readonly description: string;
  /** The parts of the value with a column in exports. A number has one column, a list has none. */
  readonly columns: readonly string[];
  readonly example: Value;
  readonly of: (totals: ShowTotals) => Value;
}

export type KpiType =
  | "Float"
  | "ChannelTotals"
  | "ChannelCounts"
  | "ViewerTotals"
  | "ChannelAverages"
  | "DeviceShare"
  | "BuyerTotals"
  | "BuyerRates"
  | "SourceFigures";

const kpi = <Value>(entry: Kpi<Value>) => entry;

const byChannel = ["live", "replay", "referral", "total"];
const distinctParts = ["live", "replay", "total", "unique"];
const averageParts = ["live", "replay", "avg"];

/**
 * All KPIs. The GraphQL schema, the columns of exports, docs/kpis.md and the examples of the OpenAPI document are made from these entries.
 * Columns of exports are in this order: add a KPI at the end.
 */
export const kpis = {
  sales: kpi({
    type: "ChannelTotals",
    description: "The amounts of ORDER events, exact, before refunds.",
    columns: byChannel,
    example: { live: 1497, replay: 499, referral: 249.5, total: 2245.5, currency: "EUR" },
    of: ofMoney(({ sales }) => new Exact(sales)),
  }),
  orders: kpi({
    type: "ChannelCounts",
    description: "The number of ORDER events.",
    columns: byChannel,
    example: { live: 30, replay: 10, referral: 5, total: 45 },
    of: counts(({ orders }) => orders),
  }),
  viewers: kpi({
    type: "ViewerTotals",
    description: "Distinct viewerIds with a VIEW or an ADD_TO_CART on the channel.",
    columns: distinctParts,
    example: { live: 300, replay: 100, total: 400, unique: 380 },
    of: distinct(({ viewers }) => viewers),
  }),
  addToCart: kpi({
    type: "ChannelAverages",
    description: "Viewers with an ADD_TO_CART, in percent of viewers.",
    columns: averageParts,
    example: { live: 20, replay: 10, avg: 17.5 },
    of: ({ channels: { live, replay } }) => ({
      live: percent(live.cartViewers, live.viewers),
      replay: percent(replay.cartViewers, replay.viewers),
      avg: percent(live.cartViewers + replay.cartViewers, live.viewers + replay.viewers),
    }),
  }),
  avgViewTime: kpi({
    type: "ChannelAverages",
    description: "Seconds of VIEW events for each viewer.",
    columns: averageParts,
    example: { live: 600, replay: 200, avg: 500 },
    of: ({ channels: { live, replay } }) => ({
      live: ratio(live.viewSeconds, live.viewers),
      replay: ratio(replay.viewSeconds, replay.viewers),
      avg: ratio(new Decimal(live.viewSeconds).plus(replay.viewSeconds), live.viewers + replay.viewers),
    }),
  }),
  conversionRate: kpi({
    type: "Float",
    description: "Orders for each 100 distinct viewers; above 100 if viewers order more than once.",
    columns: [],
    example: 11.84,
    of: ({ channels, any }) => percent(counted(channels, ({ orders }) => orders).total, any.viewers),
  }),
  averageOrderValue: kpi({
    type: "Float",
    description: "Sales for each order, in the currency of the store; 0 without orders.",
    columns: [],
    example: 49.9,
    of: ({ channels, decimals }) =>
      ratio(
        sumOf(channels, ({ sales }) => new Exact(sales)),
        counted(channels, ({ orders }) => orders).total,
        decimals,
      ),
  }),
  refunds: kpi({
    type: "ChannelTotals",
    description: "The amounts of REFUND events. Sales do not subtract them.",
    columns: byChannel,
    example: { live: 0, replay: 0, referral: 49.9, total: 49.9, currency: "EUR" },
    of: ofMoney(({ refunds }) => new Exact(refunds)),
  }),
  netSales: kpi({
    type: "ChannelTotals",
    description: "Sales less refunds; below 0 if refunds exceed sales.",
    columns: byChannel,
    example: { live: 1497, replay: 499, referral: 199.6, total: 2195.6, currency: "EUR" },
    of: ofMoney(({ sales, refunds }) => new Exact(sales).minus(refunds)),
  }),
  devices: kpi({
    type: "DeviceShare",
    description: "Devices of the viewers of LIVE and of REPLAY, added up: the largest share first, then by name.",
    columns: ["mobile", "tablet", "desktop", "tv", "other"],
    example: [
      { device: "mobile", value: 75 },
      { device: "desktop", value: 20 },
      { device: "unknown", value: 5 },
    ],
    of: ({ devices }) => deviceShares(devices),
  }),
  buyers: kpi({
    type: "BuyerTotals",
    description: "Viewers who ordered, each counted once. An ORDER that names no viewer has no buyer.",
    columns: [...byChannel, "unique"],
    example: { live: 28, replay: 9, referral: 5, total: 42, unique: 40 },
    of: ({ channels, any }) => ({ ...counted(channels, ({ buyers }) => buyers), unique: any.buyers }),
  }),
  buyerRate: kpi({
    type: "BuyerRates",
    description: "Buyers for each 100 viewers.",
    columns: ["live", "replay", "total"],
    example: { live: 9.33, replay: 9, total: 10.53 },
    of: ({ channels: { live, replay }, any }) => ({
      live: percent(live.buyers, live.viewers),
      replay: percent(replay.buyers, replay.viewers),
      total: percent(any.buyers, any.viewers),
    }),
  }),
  ordersWithoutViewer: kpi({
    type: "ChannelCounts",
    description: "Orders that name no viewer, and so have no buyer.",
    columns: byChannel,
    example: { live: 1, replay: 0, referral: 0, total: 1 },
    of: counts(({ ordersWithoutViewer }) => ordersWithoutViewer),
  }),
  engagedViewers: kpi({
    type: "ViewerTotals",
    description: "Viewers with a VIEW of at least 3 seconds, each counted once.",
    columns: distinctParts,
    example: { live: 240, replay: 80, total: 320, unique: 305 },
    of: distinct(({ engagedViewers }) => engagedViewers),
  }),
  sources: kpi({
    type: "SourceFigures",
    description: "Where viewers came from, by the first event of each: most viewers first, then by sales and name.",
    columns: [],
    example: [
      { source: "instagram.com", viewers: 250, orders: 31, sales: 1546.9 },
      { source: "direct", viewers: 130, orders: 14, sales: 698.6 },
    ],
    of: ({ sources, decimals }) => sourceFigures(sources, decimals),
  }),
};

export type KpiName = keyof typeof kpis;
export type Kpis = { readonly [Name in KpiName]: ReturnType<(typeof kpis)[Name]["of"]> };

export const kpiNames = Object.keys(kpis) as readonly KpiName[];

/** @param currency the store's (ISO 4217), if it has one */
export function showTotals(
  totals: readonly ChannelTotals[],
  devices: readonly DeviceTotal[],
  currency: string | null = null,
  sources: readonly SourceTotal[] = [],
): ShowTotals {
  const of = (channel: ChannelTotals["channel"]) => totals.find((total) => total.channel === channel) ?? nothing;
  const channels = { live: of("LIVE"), replay: of("REPLAY"), referral: of("REFERRAL") };
  return { channels, any: of("ANY"), devices, sources, currency, decimals: currencyDecimals(currency) };
}

/**
 * All of them. Rates are rounded to 2 decimals, amounts to those of the currency; a denominator of 0 gives 0. Who reads some computes
 * those alone: decimals take their time.
 */
export function kpisOf(totals: ShowTotals): Kpis {
  return Object.fromEntries(kpiNames.map((name) => [name, kpis[name].of(totals)])) as unknown as Kpis;
}

type Totals = Omit<ChannelTotals, "channel">;

interface Channels {
  readonly live: Totals;
  readonly replay: Totals;
  readonly referral: Totals;
}

function counts(countOf: (totals: Totals) => number) {
  return ({ channels }: ShowTotals): ByChannel => counted(channels, countOf);
}

function counted({ live, replay, referral }: Channels, countOf: (totals: Totals) => number): ByChannel {
  const [ofLive, ofReplay, ofReferral] = [countOf(live), countOf(replay), countOf(referral)];
  return { live: ofLive, replay: ofReplay, referral: ofReferral, total: ofLive + ofReplay + ofReferral };
}

/** A figure of viewers, who are on LIVE and REPLAY. */
function distinct(countOf: (totals: Totals) => number) {
  return ({ channels: { live, replay }, any }: ShowTotals): Distinct => ({
    live: countOf(live),
    replay: countOf(replay),
    total: countOf(live) + countOf(replay),
    unique: countOf(any),
  });
}

function sumOf({ live, replay, referral }: Channels, amountOf: (totals: Totals) => Decimal): Decimal {
  return amountOf(live).plus(amountOf(replay)).plus(amountOf(referral));
}

function ofMoney(amountOf: (totals: Totals) => Decimal) {
  return ({ channels, currency, decimals }: ShowTotals): Amounts => ({
    live: money(amountOf(channels.live), decimals),
    replay: money(amountOf(channels.replay), decimals),
    referral: money(amountOf(channels.referral), decimals),
    total: money(sumOf(channels, amountOf), decimals),
    currency,
  });
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
  return rounded(quotient(dividend, divisor), decimals);
}

/** Not rounded yet; 0 if the divisor is 0. */
export function quotient(dividend: string | Decimal, divisor: number): Decimal {
  return divisor === 0 ? new Decimal(0) : new Decimal(dividend).div(divisor);
}

function rounded(value: Decimal, decimals: number): number {
  return value.toDecimalPlaces(decimals, Decimal.ROUND_HALF_UP).toNumber() + 0; // -0 becomes 0
}
