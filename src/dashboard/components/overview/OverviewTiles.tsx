import {
  type FormatMoney,
  formatChange,
  formatCount,
  formatDecimal,
  formatDuration,
  formatRate,
  moneyFormat,
  type Average,
  orDash,
  ratesOf,
} from "../../format.js";
import type { StoreFigures, Totals } from "../../queries/store.js";
import { Tile } from "../Elements.js";

type Figure = readonly [
  name: string,
  of: string,
  read: (totals: Totals) => Average,
  format: (value: Average) => string,
];

export function OverviewTiles({ figures }: { readonly figures: StoreFigures }) {
  const { previous, currency, unattributed, attribution } = figures;
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
      {attribution.recount && (
        <p class="muted small">
          Orders are being attributed again by the rule {attribution.rule}, the latest first:{" "}
          {formatCount(attribution.recount.done)} of {formatCount(attribution.recount.orders)}.
        </p>
      )}
      {unattributed.sales > 0 && (
        <p class="muted small">
          {formatCount(unattributed.orders)} {unattributed.orders === 1 ? "order counts" : "orders count"} for no show;{" "}
          {moneyFormat(currency)(unattributed.sales)} of sales are unattributed.
        </p>
      )}
    </section>
  );
}

/** Shows net sales instead of the average order if there are refunds in this range or the one before. */
function figuresOf({ kpis, previous }: StoreFigures, formatMoney: FormatMoney): Figure[] {
  const hasRefunds = kpis.refunds.total > 0 || previous.kpis.refunds.total > 0;
  const refunded = `${formatMoney(kpis.refunds.total)} refunded`;
  const [money, count] = [orDash(formatMoney), orDash(formatCount)];
  return [
    ["Sales", "total", (totals) => totals.kpis.sales.total, money],
    hasRefunds
      ? ["Net sales", refunded, (totals) => totals.kpis.netSales.total, money]
      : ["Average order", "", (totals) => ratesOf(totals.kpis).averageOrderValue, money],
    ["Orders", "total", (totals) => totals.kpis.orders.total, count],
    ["Viewers", "of all shows", (totals) => totals.kpis.viewers.total, count],
    ["Add to cart", "of viewers", (totals) => ratesOf(totals.kpis).addToCart, orDash(formatRate)],
    ["View time", "average", (totals) => ratesOf(totals.kpis).avgViewTime, orDash(formatDuration)],
    ["Conversion", "per 100 viewers", (totals) => ratesOf(totals.kpis).conversionRate, orDash(formatDecimal)],
    ["Shows", "started", (totals) => totals.showCount, count],
  ];
}

interface ChangeProps {
  readonly now: Average;
  readonly before: Average;
  readonly format: (value: Average) => string;
}

const directions = {
  up: ["▲", "up"],
  down: ["▼", "down"],
  same: ["=", "unchanged"],
} as const;

function Change({ now, before, format }: ChangeProps) {
  if (before === undefined || (before === 0 && (now ?? 0) > 0)) return <p class="change muted small">none before</p>;
  return (
    <p class="change small">
      <ChangeBy now={now} before={before} /> <span class="muted">{`from ${format(before)}`}</span>
    </p>
  );
}

/**
 * The direction of a change, not only by color, and its size in percent of the value before. If that was 0 or negative, there is no
 * percentage, because it would say nothing.
 */
export function ChangeBy({ now, before }: Omit<ChangeProps, "format">) {
  if (now === undefined || before === undefined) return <>–</>;
  const direction = now > before ? "up" : now < before ? "down" : "same";
  const [sign, word] = directions[direction];
  return (
    <span class="by" data-direction={direction}>
      <span aria-hidden="true">{sign}</span> <span class="hidden">{word}</span>
      {direction !== "same" && before > 0 && formatChange((now - before) / before)}
    </span>
  );
}
