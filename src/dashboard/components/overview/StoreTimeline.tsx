import { useMemo } from "preact/hooks";
import { formatBucket, formatCount, moneyFormat } from "../../format.js";
import type { StoreFigures } from "../../queries/store.js";
import { type Bounds, fillStoreBuckets } from "../../overview/range.js";
import type { ChartFigure } from "../../overview/view.js";
import { Segments } from "../Elements.js";
import { TimelineChart } from "../timeline/TimelineChart.js";
import { PointTable } from "../timeline/PointTable.js";

interface Props {
  readonly figures: StoreFigures;
  readonly bucket: Bounds["bucket"];
  readonly chart: ChartFigure;
  readonly onChart: (chart: ChartFigure) => void;
}

const charts = [
  ["sales", "Sales"],
  ["orders", "Orders"],
  ["carts", "Added to cart"],
] as const;

const units = { HOUR: "hour", DAY: "day", WEEK: "week", MONTH: "month" } as const;
const places = { HOUR: "at", DAY: "on", WEEK: "in the week of", MONTH: "in" } as const;
const seconds = { HOUR: 3_600, DAY: 86_400, WEEK: 604_800, MONTH: 2_592_000 } as const;

export function StoreTimeline({ figures, bucket, chart, onChart }: Props) {
  const { timeline, from, until, currency } = figures;
  const points = useMemo(() => fillStoreBuckets(timeline, { from, until, bucket }), [timeline, from, until, bucket]);
  const formatMoney = moneyFormat(currency);
  const name = charts.find(([figure]) => figure === chart)?.[1] ?? "";
  const formatTime = (ms: number) => formatBucket(ms, bucket);
  return (
    <section class="card" aria-labelledby="store-timeline-heading">
      <header class="card-header">
        <div>
          <h2 id="store-timeline-heading">By {units[bucket]}</h2>
          <p class="muted small">When it happened, also in shows that started before.</p>
        </div>
        <Segments legend="Figure of the chart" options={charts} value={chart} onChange={onChart} />
      </header>
      <TimelineChart
        name={name}
        figure={chart}
        points={points}
        bucketSeconds={seconds[bucket]}
        format={chart === "sales" ? formatMoney : formatCount}
        formatTime={formatTime}
        at={places[bucket]}
        isTall
      />
      <PointTable
        label="Figures over time as a table"
        columns={[
          ["Sales", ({ sales }) => formatMoney(sales)],
          ["Orders", ({ orders }) => formatCount(orders)],
          ["Added to cart", ({ carts }) => formatCount(carts)],
        ]}
        points={points}
        isEmpty={({ orders, carts, sales }) => orders + carts + sales <= 0}
        formatTime={formatTime}
      />
    </section>
  );
}
