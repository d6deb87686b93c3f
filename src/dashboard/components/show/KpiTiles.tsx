import { type FormatMoney, formatCount, formatDecimal, formatDuration, formatRate, moneyFormat } from "../../format.js";
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
            <dl>
              {parts.map(([part, amount]) => (
                <div key={part}>
                  <dt>{part}</dt>
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
  const { sales, refunds, netSales, orders, viewers, addToCart, avgViewTime, conversionRate, averageOrderValue } = kpis;
  const refunded: Part = ["Refunds", formatMoney(refunds.total)];
  const unique: Part = ["Unique", formatCount(viewers.unique)];
  const tiles: TileOfKpi[] = [
    ["Sales", formatMoney(sales.total), "total", sumParts(sales, formatMoney)],
    ["Net sales", formatMoney(netSales.total), "total", [refunded]],
    ["Orders", formatCount(orders.total), "total", sumParts(orders, formatCount)],
    ["Viewers", formatCount(viewers.total), "total", [...partsOf(viewers, formatCount), unique]],
    ["Add to cart", formatRate(addToCart.avg), "of viewers", partsOf(addToCart, formatRate)],
    ["View time", formatDuration(avgViewTime.avg), "average", partsOf(avgViewTime, formatDuration)],
    [
      "Conversion",
      formatDecimal(conversionRate),
      "orders per 100 viewers",
      [["Average order", formatMoney(averageOrderValue)]],
    ],
  ];
  return refunds.total > 0 ? tiles : tiles.filter(([name]) => name !== "Net sales");
}

function partsOf({ live, replay }: { live: number; replay: number }, format: (value: number) => string): Part[] {
  return [
    ["Live", format(live)],
    ["Replay", format(replay)],
  ];
}

function sumParts(sum: { live: number; replay: number; referral: number }, format: (value: number) => string): Part[] {
  return [...partsOf(sum, format), ["Referral", format(sum.referral)]];
}
