/** Formats of the first kind of English that the user reads, or else with the day before the month and a 24-hour clock. */
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
const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const dayAndClock = new Intl.DateTimeFormat(locale, {
  day: "numeric",
  month: "short",
  hour: "numeric",
  minute: "2-digit",
});
const clock = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
const exactClock = new Intl.DateTimeFormat(locale, { timeStyle: "medium" });

export const formatCount = (value: number): string => whole.format(value);
/** Formats a number with at most 2 decimals. */
export const formatDecimal = (value: number): string => decimal.format(value);
/** Amounts as money of a currency (ISO 4217), or with 2 decimals if it is unknown. */
export type FormatMoney = (value: number) => string;

const moneyFormats = new Map<string, FormatMoney>();

/** The same function for the same currency. */
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
export const formatMoment = (iso: string): string => moment.format(new Date(iso));
export const formatExactClock = (ms: number): string => exactClock.format(ms);

/** @param ratio 0.1 for 10 percent more */
export const formatChange = (ratio: number): string => share.format(Math.abs(ratio));

const date = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
/** The days of a time that ends before a moment. */
export const formatDays = (fromIso: string, untilIso: string): string =>
  date.formatRange(new Date(fromIso), new Date(Math.max(Date.parse(fromIso), Date.parse(untilIso) - 1)));

const buckets = {
  HOUR: dayAndClock,
  DAY: new Intl.DateTimeFormat(locale, { weekday: "short", day: "numeric", month: "short" }),
  WEEK: date,
  MONTH: new Intl.DateTimeFormat(locale, { month: "long", year: "numeric" }),
};

export const formatBucket = (ms: number, bucket: keyof typeof buckets): string => buckets[bucket].format(ms);

/** A time on the timeline: the day, the time of day, or both, as its buckets and span require. */
export function formatPoint(ms: number, bucketSeconds: number, spanMs: number): string {
  if (bucketSeconds >= 86_400) return day.format(ms);
  return (spanMs > 86_400_000 ? dayAndClock : clock).format(ms);
}

/** @param total in seconds; tenths are shown below a minute, the two largest units above */
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
