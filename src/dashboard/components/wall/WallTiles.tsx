import { ratesOf, orDash } from "../../averages.js";
import { formatCount, formatDecimal, formatRate, moneyFormat } from "../../format.js";
import type { ShowAnalytics } from "../../queries/show.js";

/** Texts of more characters are smaller. */
const longFrom = 10;

/** The figures that can be read from afar. */
export function WallTiles({ analytics }: { readonly analytics: ShowAnalytics }) {
  return (
    <section class="wall-tiles" aria-label="Key figures">
      {tilesOf(analytics).map(([name, value]) => (
        <article key={name} class="tile">
          <h2>{name}</h2>
          <p class="value" data-long={value.length > longFrom}>
            {value}
          </p>
        </article>
      ))}
    </section>
  );
}

function tilesOf({ kpis, watchingNow, peakConcurrentViewers }: ShowAnalytics): (readonly [string, string])[] {
  const { sales, netSales, refunds, orders, viewers } = kpis;
  const formatMoney = moneyFormat(sales.currency);
  const { addToCart, conversionRate } = ratesOf(kpis);
  return [
    refunds.total > 0 ? ["Net sales", formatMoney(netSales.total)] : ["Sales", formatMoney(sales.total)],
    ["Orders", formatCount(orders.total)],
    typeof watchingNow === "number"
      ? ["Watching now", formatCount(watchingNow)]
      : ["Most viewers at once", formatCount(peakConcurrentViewers)],
    ["Viewers", formatCount(viewers.total)],
    ["Add to cart", orDash(formatRate)(addToCart)],
    ["Orders per 100 viewers", orDash(formatDecimal)(conversionRate)],
  ];
}
