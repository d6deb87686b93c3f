import {
  type FormatMoney,
  formatCount,
  formatDecimal,
  formatDuration,
  formatRate,
  moneyFormat,
  orDash,
  ratesOf,
} from "../../format.js";
import type { Kpis } from "../../queries/show.js";
import { Tile } from "../Elements.js";

export function KpiTiles({ kpis }: { readonly kpis: Kpis }) {
  return (
    <section aria-labelledby="kpis-heading">
      <h2 id="kpis-heading" class="hidden">
        Key figures
      </h2>
      <div class="tiles">
        {tilesOf(kpis, moneyFormat(kpis.sales.currency)).map(([name, value, of, parts]) => (
          <Tile key={name} name={name} of={of} value={value}>
            <dl class="small">
              {parts.map(([part, amount]) => (
                <div key={part}>
                  <dt class="muted">{part}</dt>
                  <dd>{amount}</dd>
                </div>
              ))}
            </dl>
          </Tile>
        ))}
      </div>
    </section>
  );
}

type Part = readonly [name: string, value: string];
type TileOfKpi = readonly [name: string, value: string, of: string, parts: readonly Part[]];

function tilesOf(kpis: Kpis, formatMoney: FormatMoney): TileOfKpi[] {
  const { sales, refunds, netSales, orders, viewers } = kpis;
  const { addToCart, avgViewTime, conversionRate, averageOrderValue } = ratesOf(kpis);
  const refunded: Part = ["Refunds", formatMoney(refunds.total)];
  const unique: Part = ["Unique", formatCount(viewers.unique)];
  const engaged: Part = ["3 seconds or more", formatCount(kpis.engagedViewers.unique)];
  const tiles: TileOfKpi[] = [
    ["Sales", formatMoney(sales.total), "total", sumParts(sales, formatMoney)],
    ["Net sales", formatMoney(netSales.total), "total", [refunded]],
    ["Orders", formatCount(orders.total), "total", sumParts(orders, formatCount)],
    ["Viewers", formatCount(viewers.total), "total", [...channelParts(viewers, formatCount), unique, engaged]],
    ["Add to cart", orDash(formatRate)(addToCart), "of viewers", averageParts(kpis, kpis.addToCart, formatRate)],
    ["View time", orDash(formatDuration)(avgViewTime), "average", averageParts(kpis, kpis.avgViewTime, formatDuration)],
    [
      "Conversion",
      orDash(formatDecimal)(conversionRate),
      "orders per 100 viewers",
      [
        ["Buyers", formatCount(kpis.buyers.unique)],
        ["Per 100 viewers", orDash(formatDecimal)(viewers.unique === 0 ? undefined : kpis.buyerRate.total)],
        ["Average order", orDash(formatMoney)(averageOrderValue)],
      ],
    ],
  ];
  return refunds.total > 0 ? tiles : tiles.filter(([name]) => name !== "Net sales");
}

function channelParts({ live, replay }: { live: number; replay: number }, format: (value: number) => string): Part[] {
  return [
    ["Live", format(live)],
    ["Replay", format(replay)],
  ];
}

/** A channel without viewers has no average. */
function averageParts(
  { viewers }: Kpis,
  { live, replay }: Kpis["addToCart"],
  format: (value: number) => string,
): Part[] {
  return [
    ["Live", orDash(format)(viewers.live === 0 ? undefined : live)],
    ["Replay", orDash(format)(viewers.replay === 0 ? undefined : replay)],
  ];
}

function sumParts(sum: { live: number; replay: number; referral: number }, format: (value: number) => string): Part[] {
  return [...channelParts(sum, format), ["Referral", format(sum.referral)]];
}
