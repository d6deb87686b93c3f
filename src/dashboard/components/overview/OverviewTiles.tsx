import { formatChange, formatCount, formatDecimal, formatDuration, formatRate, moneyFormat } from "../../format.js";
import type { StoreFigures, Totals } from "../../operations.js";

interface Figure {
  readonly name: string;
  readonly of: string;
  readonly read: (totals: Totals) => number;
  readonly format: (value: number) => string;
}

export function OverviewTiles({ figures }: { readonly figures: StoreFigures }) {
  const { previous, currency } = figures;
  return (
    <section aria-labelledby="totals-heading">
      <h2 id="totals-heading" class="hidden">
        Key figures
      </h2>
      <div class="tiles four">
        {figuresOf(figures, moneyFormat(currency)).map(({ name, of, read, format }) => (
          <article key={name} class="tile">
            <h3>
              {name} <small>{of}</small>
            </h3>
            <p class="value">{format(read(figures))}</p>
            <Change now={read(figures)} before={read(previous)} format={format} />
          </article>
        ))}
      </div>
    </section>
  );
}

/** Net sales take the place of the average order where something was paid back, now or before. */
function figuresOf({ kpis, previous }: StoreFigures, formatMoney: (value: number) => string): Figure[] {
  const hasRefunds = kpis.refunds.total > 0 || previous.kpis.refunds.total > 0;
  const net: Figure = {
    name: "Net sales",
    of: `${formatMoney(kpis.refunds.total)} refunded`,
    read: (totals) => totals.kpis.netSales.total,
    format: formatMoney,
  };
  const averageOrder: Figure = {
    name: "Average order",
    of: "",
    read: (totals) => totals.kpis.averageOrderValue,
    format: formatMoney,
  };
  return [
    { name: "Sales", of: "total", read: (totals) => totals.kpis.sales.total, format: formatMoney },
    hasRefunds ? net : averageOrder,
    { name: "Orders", of: "total", read: (totals) => totals.kpis.orders.total, format: formatCount },
    { name: "Viewers", of: "of all shows", read: (totals) => totals.kpis.viewers.total, format: formatCount },
    { name: "Add to cart", of: "of viewers", read: (totals) => totals.kpis.addToCart.avg, format: formatRate },
    { name: "View time", of: "average", read: (totals) => totals.kpis.avgViewTime.avg, format: formatDuration },
    { name: "Conversion", of: "per 100 viewers", read: (totals) => totals.kpis.conversionRate, format: formatDecimal },
    { name: "Shows", of: "started", read: (totals) => totals.showCount, format: formatCount },
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
