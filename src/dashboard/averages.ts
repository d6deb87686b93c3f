/** An average or a rate; undefined where there was nothing to average, which the API answers with 0. */
export type Average = number | undefined;

interface Averaged {
  readonly orders: { readonly total: number };
  readonly viewers: { readonly total: number };
  readonly addToCart: { readonly avg: number };
  readonly avgViewTime: { readonly avg: number };
}

/** Those of viewers, over both channels. */
export function averagesOf({ viewers, addToCart, avgViewTime }: Omit<Averaged, "orders">) {
  const average = (value: number): Average => (viewers.total === 0 ? undefined : value);
  return { addToCart: average(addToCart.avg), avgViewTime: average(avgViewTime.avg) };
}

/** Also those of orders. */
export function ratesOf(kpis: Averaged & { readonly conversionRate: number; readonly averageOrderValue: number }) {
  return {
    ...averagesOf(kpis),
    conversionRate: kpis.viewers.total === 0 ? undefined : kpis.conversionRate,
    averageOrderValue: kpis.orders.total === 0 ? undefined : kpis.averageOrderValue,
  };
}

/** Writes a dash for what is no number. */
export function orDash(format: (value: number) => string): (value: Average) => string {
  return (value) => (value === undefined ? "–" : format(value));
}
