import { useMemo } from "preact/hooks";
import { formatBucket, formatCount, moneyFormat } from "../../format.js";
import type { useOverview } from "../../hooks/useOverview.js";
import type { StoreFigures } from "../../queries/store.js";
import { type Bounds, bucketsOfShows, fillStoreBuckets } from "../../overview/range.js";
import type { ChartFigure } from "../../overview/view.js";
import { Segments } from "../Elements.js";
import { TimelineChart } from "../TimelineChart.js";
import { PointTable } from "../FigureTable.js";

interface Props {
  readonly figures: StoreFigures;
  readonly bucket: Bounds["bucket"];
  /** The shows of the range; undefined until they have arrived. */
  readonly shows: ReturnType<typeof useOverview>["shows"]["value"];
  readonly chart: ChartFigure;
  readonly onChart: (chart: ChartFigure) => void;
}

const charts = [
  ["sales", "Sales"],
  ["orders", "Orders"],
  ["carts", "Added to cart"],
  ["netSales", "Net sales"],
  ["viewers", "Viewers"],
] as const;

const units = { HOUR: "hour", DAY: "day", WEEK: "week", MONTH: "month" } as const;
const places = { HOUR: "at", DAY: "on", WEEK: "in the week of", MONTH: "in" } as const;
const seconds = { HOUR: 3_600, DAY: 86_400, WEEK: 604_800, MONTH: 2_592_000 } as const;

/** Charts what happened at a time, or the figures of the shows that started then. */
export function StoreTimeline(props: Props) {
  const { bucket, chart, shows, onChart } = props;
  const isOfShows = chart === "netSales" || chart === "viewers";
  return (
    <section class="card" aria-labelledby="store-timeline-heading">
      <header class="card-header">
        <div>
          <h2 id="store-timeline-heading">By {units[bucket]}</h2>
          <p class="muted small">
            {isOfShows ? "Of the shows that started then." : "When it happened, also in shows that started before."}
          </p>
        </div>
        <Segments legend="Figure of the chart" options={charts} value={chart} onChange={onChart} />
      </header>
      {isOfShows ? (
        shows !== undefined && <ShowsChart {...props} shows={shows} figure={chart} />
      ) : (
        <EventsChart {...props} figure={chart} />
      )}
    </section>
  );
}

function chartOf(chart: ChartFigure, bucket: Bounds["bucket"], currency: string | null | undefined) {
  return {
    name: charts.find(([figure]) => figure === chart)?.[1] ?? "",
    bucketSeconds: seconds[bucket],
    format: chart === "sales" || chart === "netSales" ? moneyFormat(currency) : formatCount,
    formatTime: (ms: number) => formatBucket(ms, bucket),
    at: places[bucket],
    isTall: true,
  };
}

type EventsChartProps = Props & { readonly figure: "sales" | "orders" | "carts" };

function EventsChart({ figures, bucket, figure }: EventsChartProps) {
  const { timeline, from, until, currency } = figures;
  const points = useMemo(() => fillStoreBuckets(timeline, { from, until, bucket }), [timeline, from, until, bucket]);
  const formatMoney = moneyFormat(currency);
  const each = chartOf(figure, bucket, currency);
  return (
    <>
      <TimelineChart {...each} figure={figure} points={points} />
      <PointTable
        label="Figures over time as a table"
        columns={[
          ["Sales", ({ sales }) => formatMoney(sales)],
          ["Orders", ({ orders }) => formatCount(orders)],
          ["Added to cart", ({ carts }) => formatCount(carts)],
        ]}
        points={points}
        isEmpty={({ orders, carts, sales }) => orders + carts + sales <= 0}
        formatTime={each.formatTime}
      />
    </>
  );
}

type ShowsChartProps = Props & {
  readonly shows: NonNullable<Props["shows"]>;
  readonly figure: "netSales" | "viewers";
};

function ShowsChart({ figures: { currency }, shows: { shows, bounds, isCut }, figure }: ShowsChartProps) {
  const points = useMemo(() => bucketsOfShows(shows, bounds), [shows, bounds]);
  const each = chartOf(figure, bounds.bucket, currency);
  return (
    <>
      <TimelineChart {...each} figure={figure} points={points} />
      {isCut && <CutNote count={shows.length} />}
      <PointTable
        label="Figures of shows by their start as a table"
        columns={[
          ["Net sales", ({ netSales }) => moneyFormat(currency)(netSales)],
          ["Viewers", ({ viewers }) => formatCount(viewers)],
        ]}
        points={points}
        isEmpty={({ netSales, viewers }) => netSales === 0 && viewers === 0}
        formatTime={each.formatTime}
      />
    </>
  );
}

/** Shown if a range has more shows than are read. */
export function CutNote({ count }: { readonly count: number }) {
  return <p class="muted small">Of the latest {formatCount(count)} shows.</p>;
}
