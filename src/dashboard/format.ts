import { dateFormat, shownAt } from "./timeZone.js";

const dayMs = 86_400_000;
/** Device names with unusual capitals. */
const written = ["TV", "PC", "iOS", "iPad", "iPhone", "iPadOS", "macOS", "HbbTV"];
const writtenOf = new Map(written.map((word) => [word.toLowerCase(), word]));
/** The first kind of English among the user's languages, otherwise British: day before month, and a 24-hour clock. */
const locale = globalThis.navigator?.languages?.find((language) => /^en\b/iu.test(language)) ?? "en-GB";

const whole = new Intl.NumberFormat(locale);
const decimal = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
const amount = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const rate = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 2 });
const share = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
const unit = (name: string, digits = 0) =>
  new Intl.NumberFormat(locale, { style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: digits });
const [days, hours, minutes, seconds, exactSeconds] = [
  unit("day"),
  unit("hour"),
  unit("minute"),
  unit("second"),
  unit("second", 1),
];
const day = { day: "numeric", month: "short" } as const;
const clock = { hour: "numeric", minute: "2-digit" } as const;
/** Adds the name of the time zone. */
const named = { timeZoneName: "short" } as const;
const date = { ...day, year: "numeric" } as const;
const inZone = (options: Intl.DateTimeFormatOptions) => dateFormat(locale, options);

export const formatCount = (value: number): string => whole.format(value);
/** Formats a number with at most 2 decimals. */
export const formatDecimal = (value: number): string => decimal.format(value);
/** Formats an amount in a currency (ISO 4217), or with 2 decimals if it is unknown. */
export type FormatMoney = (value: number) => string;

const moneyFormats = new Map<string, FormatMoney>();

/** Returns the same function for the same currency. */
export function moneyFormat(currency: string | null | undefined): FormatMoney {
  const known = moneyFormats.get(currency ?? "");
  if (known !== undefined) return known;
  const format =
    currency === null || currency === undefined
      ? amount
      : new Intl.NumberFormat(locale, { style: "currency", currency });
  const formatMoney: FormatMoney = (value) => format.format(value);
  moneyFormats.set(currency ?? "", formatMoney);
  return formatMoney;
}

/** @param percent from 0 to 100 */
export const formatRate = (percent: number): string => rate.format(percent / 100);
/** @param percent from 0 to 100 */
export const formatShare = (percent: number): string => share.format(percent / 100);
/** Formats a number for the axis of a chart. */
export const formatCompact = (value: number): string => compact.format(value);
export const formatMoment = (iso: string): string => inZone({ ...date, ...clock, ...named }).format(new Date(iso));
export const formatExactClock = (ms: number): string => inZone({ ...clock, second: "2-digit", ...named }).format(ms);

/** From one second until another, with their days. */
export const formatInterval = (fromMs: number, untilMs: number): string =>
  inZone({ ...day, ...clock, second: "2-digit" }).formatRange(fromMs, untilMs);

const ofClock = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC" });
const [weekdays, hoursOfDay] = [ofClock({ weekday: "long" }), ofClock({ hour: "numeric", minute: "2-digit" })];
const monday = Date.UTC(2024, 0, 1);

/** @param weekday from 0 for Monday */
export const formatWeekday = (weekday: number): string => weekdays.format(monday + weekday * dayMs);
/** @param hour from 0, of any time zone */
export const formatHour = (hour: number): string => hoursOfDay.format(hour * 3_600_000);

/** A device as people write it. Events name devices in lower case. */
export function deviceName(device: string): string {
  const words = device.replaceAll(/[a-z]+/gu, (word) => writtenOf.get(word) ?? word);
  return words === device ? `${device.slice(0, 1).toUpperCase()}${device.slice(1)}` : words;
}

/** @param ratio 0.1 for 10 percent more */
export const formatChange = (ratio: number): string => share.format(Math.abs(ratio));

/** The days of a range, and the time of day at which it ends if that is not midnight. @param untilIso not included */
export function formatRange(fromIso: string, untilIso: string): string {
  const [from, until] = [Date.parse(fromIso), Date.parse(untilIso)];
  const formattedDays = inZone(date).formatRange(from, Math.max(from, until - 1));
  return shownAt(until) % dayMs === 0
    ? formattedDays
    : `${formattedDays}, until ${inZone({ ...clock, ...named }).format(until)}`;
}

const buckets = {
  HOUR: { ...day, ...clock, ...named },
  DAY: { weekday: "short", ...day },
  WEEK: date,
  MONTH: { month: "long", year: "numeric" },
} as const;

export const formatBucket = (ms: number, bucket: keyof typeof buckets): string => inZone(buckets[bucket]).format(ms);

/** A time on the timeline: the day, the time of day, or both, depending on its buckets and span. */
export function formatPoint(ms: number, bucketSeconds: number, spanMs: number): string {
  if (bucketSeconds >= 86_400) return inZone(day).format(ms);
  return inZone({ ...(spanMs > dayMs && day), ...clock, ...named }).format(ms);
}

/** A time on the axis of a chart, which has no room for the time zone. */
export function formatTick(ms: number, isOfDays: boolean): string {
  return inZone(isOfDays ? day : clock).format(ms);
}

/** @param total in seconds. Below a minute, shows tenths; above, the two largest units. */
export function formatDuration(total: number): string {
  if (total < 60) return exactSeconds.format(total);
  const rounded = Math.round(total);
  const parts: readonly [number, Intl.NumberFormat][] = [
    [Math.floor(rounded / 86_400), days],
    [Math.floor(rounded / 3_600) % 24, hours],
    [Math.floor(rounded / 60) % 60, minutes],
    [rounded % 60, seconds],
  ];
  const largest = parts.findIndex(([value]) => value > 0);
  const shown = parts.slice(largest, largest + 2).filter(([value], index) => index === 0 || value > 0);
  return shown.map(([value, format]) => format.format(value)).join(" ");
}

/** An average or a rate. Undefined if there was nothing to average, for which the API answers 0. */
export type Average = number | undefined;

interface Averaged {
  readonly orders: { readonly total: number };
  readonly viewers: { readonly total: number };
  readonly addToCart: { readonly avg: number };
  readonly avgViewTime: { readonly avg: number };
}

/** Averages of viewers, over both channels. */
export function averagesOf({ viewers, addToCart, avgViewTime }: Omit<Averaged, "orders">) {
  const average = (value: number): Average => (viewers.total === 0 ? undefined : value);
  return { addToCart: average(addToCart.avg), avgViewTime: average(avgViewTime.avg) };
}

/** Averages of viewers and orders. */
export function ratesOf(kpis: Averaged & { readonly conversionRate: number; readonly averageOrderValue: number }) {
  return {
    ...averagesOf(kpis),
    conversionRate: kpis.viewers.total === 0 ? undefined : kpis.conversionRate,
    averageOrderValue: kpis.orders.total === 0 ? undefined : kpis.averageOrderValue,
  };
}

/** Shows a dash if there is no number. */
export function orDash(format: (value: number) => string): (value: Average) => string {
  return (value) => (value === undefined ? "–" : format(value));
}
