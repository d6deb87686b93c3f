import { formatCount, formatDecimal, formatDuration, formatRate, moneyFormat } from "../format.js";
import type { Kpis } from "../operations.js";

export function KpiTiles({ kpis }: { readonly kpis: Kpis }) {
  const { sales, refunds, netSales, orders, viewers, addToCart, avgViewTime, conversionRate, averageOrderValue } = kpis;
  const formatMoney = moneyFormat(sales.currency);
  return (
    <section aria-labelledby="kpis-heading">
      <h2 id="kpis-heading" class="hidden">
        Key figures
      </h2>
      <div class="tiles">
        <Tile name="Sales" value={formatMoney(sales.total)} of="total" parts={sumParts(sales, formatMoney)} />
        {refunds.total > 0 && (
          <Tile
            name="Net sales"
            value={formatMoney(netSales.total)}
            of="total"
            parts={[["Refunds", formatMoney(refunds.total)]]}
          />
        )}
        <Tile name="Orders" value={formatCount(orders.total)} of="total" parts={sumParts(orders, formatCount)} />
        <Tile
          name="Viewers"
          value={formatCount(viewers.total)}
          of="total"
          parts={[
            ["Live", formatCount(viewers.live)],
            ["Replay", formatCount(viewers.replay)],
            ["Unique", formatCount(viewers.unique)],
          ]}
        />
        <Tile
          name="Add to cart"
          value={formatRate(addToCart.avg)}
          of="of viewers"
          parts={parts(addToCart, formatRate)}
        />
        <Tile
          name="View time"
          value={formatDuration(avgViewTime.avg)}
          of="average"
          parts={parts(avgViewTime, formatDuration)}
        />
        <Tile
          name="Conversion"
          value={formatDecimal(conversionRate)}
          of="orders per 100 viewers"
          parts={[["Average order", formatMoney(averageOrderValue)]]}
        />
      </div>
    </section>
  );
}

type Part = readonly [string, string];

interface TileProps {
  readonly name: string;
  readonly value: string;
  /** Such as `total` or `average`. */
  readonly of: string;
  readonly parts: readonly Part[];
}

function Tile({ name, value, of, parts: shown }: TileProps) {
  return (
    <article class="tile">
      <h3>
        {name} <small>{of}</small>
      </h3>
      <p class="value">{value}</p>
      <dl>
        {shown.map(([part, amount]) => (
          <div key={part}>
            <dt>{part}</dt>
            <dd>{amount}</dd>
          </div>
        ))}
      </dl>
    </article>
  );
}

function parts({ live, replay }: { live: number; replay: number }, format: (value: number) => string): Part[] {
  return [
    ["Live", format(live)],
    ["Replay", format(replay)],
  ];
}

function sumParts(sum: { live: number; replay: number; referral: number }, format: (value: number) => string): Part[] {
  return [...parts(sum, format), ["Referral", format(sum.referral)]];
}
