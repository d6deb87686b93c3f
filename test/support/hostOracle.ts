import type { SentEvent } from "./oracle.js";
import { firstSeconds } from "./intervalOracle.js";

/** The hosts of a store, worked out in the plainest way: second by second, over all accepted events. */

interface HostOfShow {
  readonly name: string;
  readonly email: string;
}

/** Times in milliseconds since 1970. */
export interface HostedShow {
  readonly startedAt: number;
  /** Null while it runs. */
  readonly seconds: number | null;
  readonly host: HostOfShow | null;
  readonly moments: readonly { id: string; startedAt: number; endedAt: number | null; host: HostOfShow }[];
  readonly events: readonly SentEvent[];
  /** Events that occurred before were removed. */
  readonly cutoff: number | null;
}

/** Amounts in cents. */
interface Totals {
  ms: number;
  sales: number;
  netSales: number | null;
  orders: number;
  viewers: number | null;
}

export interface OracleHost extends Totals {
  /** Those of the latest show or moment. */
  named: HostOfShow[];
  latest: number;
}

/** By e-mail address in lower case; what belongs to nobody has none. */
export function hostsOf(shows: readonly HostedShow[], now: number): Map<string, OracleHost> {
  const hosts = new Map<string, OracleHost>();
  for (const show of shows) {
    const shares = momentsOf(show, now).map((moment) => ({ ...moment, totals: ofMoment(show, moment) }));
    const own = ofShow(show, now);
    for (const { host, startedAt, totals, msOfShow } of shares) {
      add(hosts, host, startedAt, totals);
      own.ms -= msOfShow;
      own.sales -= totals.sales;
      own.orders -= totals.orders;
      own.netSales = own.netSales === null || totals.netSales === null ? null : own.netSales - totals.netSales;
      own.viewers = own.viewers === null || totals.viewers === null ? null : own.viewers - totals.viewers;
    }
    add(hosts, show.host ?? { name: "", email: "" }, show.startedAt, own);
  }
  return hosts;
}

function add(hosts: Map<string, OracleHost>, host: HostOfShow, at: number, totals: Totals): void {
  const key = host.email.toLowerCase();
  const known = hosts.get(key);
  if (known === undefined) {
    hosts.set(key, { ...totals, named: [host], latest: at });
    return;
  }
  known.ms += totals.ms;
  known.sales += totals.sales;
  known.orders += totals.orders;
  known.netSales = known.netSales === null || totals.netSales === null ? null : known.netSales + totals.netSales;
  known.viewers = known.viewers === null || totals.viewers === null ? null : known.viewers + totals.viewers;
  if (at >= known.latest) known.named = at > known.latest ? [host] : [...known.named, host];
  known.latest = Math.max(known.latest, at);
}

interface Moment {
  readonly host: HostOfShow;
  readonly startedAt: number;
  /** Seconds since 1970; the end is exclusive. */
  readonly from: number;
  readonly until: number;
  readonly msOfShow: number;
}

function endOf({ startedAt, seconds }: HostedShow, now: number): number {
  return startedAt + (seconds ?? Math.floor((now - startedAt) / 1_000)) * 1_000;
}

/** At each second, the moment counts that started last, unless it has ended. */
function momentsOf(show: HostedShow, now: number): Moment[] {
  const sorted = show.moments.toSorted((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1));
  const showEnd = endOf(show, now);
  const elapsed = Math.ceil(now / 1_000);
  /** One that says nothing lasts to the end of the show, or after that to the next one. */
  const openEnd = (moment: (typeof sorted)[number]) => {
    if (show.seconds === null || (moment.startedAt >= showEnd && moment !== sorted.at(-1))) return Infinity;
    return Math.max(showEnd, moment.startedAt);
  };
  const endsAt = (moment: (typeof sorted)[number]) =>
    Math.min(Math.floor((moment.endedAt ?? openEnd(moment)) / 1_000), elapsed);
  const owned = new Map(sorted.map((moment): [typeof moment, number[]] => [moment, []]));
  const first = Math.floor((sorted[0]?.startedAt ?? 0) / 1_000);
  for (let second = first; second < elapsed && sorted.length > 0; second += 1) {
    const latest = sorted.findLast(({ startedAt }) => startedAt / 1_000 <= second);
    if (latest !== undefined && second < endsAt(latest)) owned.get(latest)?.push(second);
  }
  const lasting = [...owned].filter(([, seconds]) => seconds.length > 0);
  return lasting.map(([{ host, startedAt }, seconds]) => {
    const within = seconds.map((second) =>
      Math.max(0, Math.min((second + 1) * 1_000, showEnd) - Math.max(second * 1_000, show.startedAt)),
    );
    const msOfShow = within.reduce((sum, ms) => sum + ms, 0);
    return { host, startedAt, from: seconds[0] ?? 0, until: (seconds.at(-1) ?? 0) + 1, msOfShow };
  });
}

function ofShow(show: HostedShow, now: number): Totals {
  const { events } = show;
  const isSeen = ({ type }: SentEvent) => type === "VIEW" || type === "ADD_TO_CART";
  const viewers = new Set(events.filter(isSeen).map(({ viewerId }) => viewerId)).size;
  return { ms: Math.max(0, endOf(show, now) - show.startedAt), ...salesOf(events), viewers };
}

/** Where events were removed, only whole minutes are known, and neither refunds nor viewers. */
function ofMoment({ events, cutoff }: HostedShow, { from, until }: Moment): Totals {
  const minuteOf = (second: number) => Math.floor(second / 60) * 60;
  const isKept = (second: number) => second % 60 === 0 || cutoff === null || minuteOf(second) * 1_000 >= cutoff;
  const [start = 0, end = 0] = [from, until].map((second) => (isKept(second) ? second : minuteOf(second)));
  const isExact = isKept(from) && isKept(until) && (cutoff === null || from * 1_000 >= cutoff);
  const isWithin = (second: number) => second >= start && second < end;
  const sums = salesOf(events.filter(({ occurredAt = "" }) => isWithin(Date.parse(occurredAt) / 1_000)));
  const viewers = [...firstSeconds(events).values()].filter(isWithin).length;
  const ms = (until - from) * 1_000;
  return isExact ? { ms, ...sums, viewers } : { ms, ...sums, netSales: null, viewers: null };
}

function salesOf(events: readonly SentEvent[]) {
  const cents = (type: SentEvent["type"]) =>
    events.filter((event) => event.type === type).reduce((sum, { amount }) => sum + Math.round((amount ?? 0) * 100), 0);
  const orders = events.filter(({ type }) => type === "ORDER").length;
  return { sales: cents("ORDER"), netSales: cents("ORDER") - cents("REFUND"), orders };
}

/** What is answered of a host, but for the name. */
export function hostFigures({ ms, sales, netSales, orders, viewers }: OracleHost) {
  const amount = (cents: number | null) => (cents === null ? null : cents / 100);
  return {
    hours: hundredths(ms, 3_600_000),
    sales: amount(sales),
    netSales: amount(netSales),
    orders,
    viewers,
    salesPerHour: amount(ratio(sales * 3_600_000, ms)),
    netSalesPerHour: netSales === null ? null : amount(ratio(netSales * 3_600_000, ms)),
    ordersPerHour: hundredths(orders * 3_600_000, ms),
    viewersPerHour: viewers === null ? null : hundredths(viewers * 3_600_000, ms),
  };
}

function hundredths(dividend: number, divisor: number): number {
  return ratio(dividend * 100, divisor) / 100;
}

/** The quotient of whole numbers, halves away from zero; 0 where the divisor is. */
function ratio(dividend: number, divisor: number): number {
  if (divisor === 0) return 0;
  const [units, by] = [BigInt(Math.abs(dividend)), BigInt(divisor)];
  return Number((units * 2n + by) / (by * 2n)) * (dividend < 0 ? -1 : 1) + 0;
}

const scoreOf = {
  SALES_PER_HOUR: ({ sales, ms }: OracleHost) => quotient(sales, ms),
  NET_SALES_PER_HOUR: ({ netSales, ms }: OracleHost) => quotient(netSales, ms),
  ORDERS_PER_HOUR: ({ orders, ms }: OracleHost) => quotient(orders, ms),
  VIEWERS_PER_HOUR: ({ viewers, ms }: OracleHost) => quotient(viewers, ms),
  HOURS: ({ ms }: OracleHost) => ms,
};

export type OracleHostOrder = keyof typeof scoreOf;

function quotient(figure: number | null, ms: number): number {
  return figure === null ? -Infinity : ms === 0 ? 0 : figure / ms;
}

/** Those who have an address, in order. */
export function rankedHosts(hosts: ReadonlyMap<string, OracleHost>, by: OracleHostOrder): OracleHost[] {
  const score = scoreOf[by];
  const listed = [...hosts].filter(([key]) => key !== "");
  const sorted = listed.toSorted(([a, one], [b, other]) => {
    const [first, second] = [score(one), score(other)];
    return first === second ? (a < b ? -1 : 1) : second - first;
  });
  return sorted.map(([, host]) => host);
}
