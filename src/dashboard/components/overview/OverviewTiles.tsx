import {
  type FormatMoney,
  formatChange,
  formatCount,
  formatDecimal,
  formatDuration,
  formatRate,
  moneyFormat,
} from "../../format.js";
import type { StoreFigures, Totals } from "../../queries/store.js";
import { Tile } from "../Elements.js";

type Figure = readonly [name: string, of: string, read: (totals: Totals) => number, format: (value: number) => string];

export function OverviewTiles({ figures }: { readonly figures: StoreFigures }) {
  const { previous, currency } = figures;
  return (
    <section aria-labelledby="totals-heading">
      <h2 id="totals-heading" class="hidden">
        Key figures
      </h2>
      <div class="tiles four">
        {figuresOf(figures, moneyFormat(currency)).map(([name, of, read, format]) => (
          <Tile key={name} name={name} of={of} value={format(read(figures))}>
            <Change now={read(figures)} before={read(previous)} format={format} />
          </Tile>
        ))}
      </div>
    </section>
  );
}

/** Net sales take the place of the average order where something was paid back, now or before. */
function figuresOf({ kpis, previous }: StoreFigures, formatMoney: FormatMoney): Figure[] {
  const hasRefunds = kpis.refunds.total > 0 || previous.kpis.refunds.total > 0;
  const refunded = `${formatMoney(kpis.refunds.total)} refunded`;
  return [
    ["Sales", "total", (totals) => totals.kpis.sales.total, formatMoney],
    hasRefunds
      ? ["Net sales", refunded, (totals) => totals.kpis.netSales.total, formatMoney]
      : ["Average order", "", (totals) => totals.kpis.averageOrderValue, formatMoney],
    ["Orders", "total", (totals) => totals.kpis.orders.total, formatCount],
    ["Viewers", "of all shows", (totals) => totals.kpis.viewers.total, formatCount],
    ["Add to cart", "of viewers", (totals) => totals.kpis.addToCart.avg, formatRate],
    ["View time", "average", (totals) => totals.kpis.avgViewTime.avg, formatDuration],
    ["Conversion", "per 100 viewers", (totals) => totals.kpis.conversionRate, formatDecimal],
    ["Shows", "started", (totals) => totals.showCount, formatCount],
  ];
}

interface ChangeProps {
  readonly now: number;
  readonly before: number;
  readonly format: (value: number) => string;
}

const directions = {
  up: ["▲", "up"],
  down: ["▼", "down"],
  same: ["=", "unchanged"],
} as const;

function Change({ now, before, format }: ChangeProps) {
  if (before === 0 && now > 0) return <p class="change muted">none before</p>;
  return (
    <p class="change">
      <ChangeBy now={now} before={before} /> <span class="muted">{`from ${format(before)}`}</span>
    </p>
  );
}

/** The change in percent of the value before, which is not 0 unless both are; not by color alone. */
export function ChangeBy({ now, before }: Omit<ChangeProps, "format">) {
  const direction = now > before ? "up" : now < before ? "down" : "same";
  const [sign, word] = directions[direction];
  return (
    <span class="by" data-direction={direction}>
      <span aria-hidden="true">{sign}</span> <span class="hidden">{word}</span>
      {direction !== "same" && formatChange((now - before) / before)}
    </span>
  );
}
